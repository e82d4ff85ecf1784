import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect } from 'chai'
import { createPortFinder } from './ports.ts'

describe('createPortFinder', () => {
  const servers: Server[] = []
  const finders: ReturnType<typeof createPortFinder>[] = []
  const finder = () => {
    const made = createPortFinder()
    finders.push(made)
    return made
  }
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
    for (const each of finders.splice(0)) each.release()
  })

  async function listen(host: string | undefined): Promise<number> {
    const server = createServer().listen({ port: 0, ...(host === undefined ? {} : { host }) })
    servers.push(server)
    await once(server, 'listening')
    const address = server.address()
    return isAddress(address) ? address.port : 0
  }

  for (const [where, host] of [
    ['loopback', '127.0.0.1'],
    ['every address', undefined],
  ] as const) {
    it(`skips a port on which a process listens on ${where}`, async () => {
      const taken = await listen(host)
      expect(await finder().near(taken)).to.be.within(taken + 1, taken + 199)
    })
  }

  it('reserves a port for one caller until it is released', async () => {
    const [one, other] = [finder(), finder()]
    const port = await one.any()
    expect(await one.near(port)).to.be.within(port + 1, port + 199)
    expect(await other.near(port)).to.be.within(port + 1, port + 199)
    one.release()
    expect(await other.near(port)).to.equal(port)
  })

  it('does not probe a reserved port: its owner may be about to listen on it', async () => {
    const port = await finder().any()
    const tries = Array.from({ length: 20 }, () => finder().near(port))
    for (let i = 0; i < 50; i += 1) {
      const server = createServer().listen({ port, host: '127.0.0.1' })
      await once(server, 'listening')
      await new Promise(closed => server.close(closed))
    }
    expect(await Promise.all(tries)).to.not.include(port)
  })
})

function isAddress(address: ReturnType<Server['address']>): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

import { EventEmitter, once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { limitConnections } from './connection-limit.ts'

describe('limitConnections', () => {
  let server: Server
  let most = 3
  const opened: Socket[] = []

  before(async () => {
    server = createServer(socket => void socket.on('error', () => undefined))
    limitConnections(server, () => most)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy()
    await sleep(50)
  })
  after(() => server.close())

  async function open(localAddress: string): Promise<Socket> {
    const address = server.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
    opened.push(socket.resume())
    await once(socket, 'connect')
    await sleep(50)
    return socket
  }
  const isOpen = (socket: Socket) => !socket.destroyed && !socket.readableEnded

  it('rejects further connections from the address that has the most', async () => {
    const sockets: Socket[] = []
    for (let i = 0; i < 4; i++) sockets.push(await open('127.0.0.1'))
    expect(sockets.map(isOpen)).to.deep.equal([true, true, true, false])
  })

  it('closes a connection of that address for one from another address', async () => {
    const sockets: Socket[] = []
    for (const address of ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2'])
      sockets.push(await open(address))
    expect(sockets.map(isOpen)).to.deep.equal([true, true, false, true])
  })

  it('takes constant time with any number of addresses and connections', () => {
    const many = 20_000
    const listener = createServer()
    limitConnections(listener, () => many)
    const closed: string[] = []
    const arrive = (remoteAddress: string) => {
      const socket = Object.assign(new EventEmitter(), {
        ...{ remoteAddress, destroyed: false },
        destroy() {
          socket.destroyed = true
          closed.push(remoteAddress)
          socket.emit('close')
        },
      })
      listener.emit('connection', socket)
      return socket
    }
    const startedAt = performance.now()
    for (let i = 0; i < many; i++) arrive(i % 2 === 0 ? 'greedy' : `10.0.${i >> 8}.${i & 255}`)
    for (let i = 0; i < many / 2; i++) arrive(`10.1.${i >> 8}.${i & 255}`)
    expect(performance.now() - startedAt).to.be.below(5_000)
    expect([closed.length, new Set(closed).size]).to.deep.equal([many / 2, 2])
    expect(closed.filter(address => address === 'greedy').length).to.equal(many / 2 - 1)
  })

  it('limits nothing when it is 0', async () => {
    most = 0
    const sockets: Socket[] = []
    for (let i = 0; i < 6; i++) sockets.push(await open('127.0.0.1'))
    expect(sockets.every(isOpen)).to.equal(true)
  })
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import { silent } from '../../iam/fixtures.ts'
import { shutDownGracefully } from './graceful-shutdown.ts'
import { createHttpListener, listen, type RequestListener } from './https-server.ts'
import { trackUnusedConnections } from './listeners.ts'

describe('drain', () => {
  const limits = { headersSeconds: 60, headerKilobytes: 16 }
  const parts = { probes: { drain: () => undefined }, longRunning: [], delaySeconds: 0, logger: silent }

  async function start(listener: RequestListener, delaySeconds = 0) {
    const server = createHttpListener(listener, limits)
    const unasked = [trackUnusedConnections(server)]
    const socket = connect(await listen(server, '127.0.0.1', 0), '127.0.0.1')
    await once(server, 'connection')
    return { socket, stop: () => shutDownGracefully([server], { ...parts, delaySeconds, unused: unasked }) }
  }

  it('does not wait for a connection without any request', async () => {
    const { socket, stop } = await start((_req, res) => res.end('ok'))
    const began = performance.now()
    await stop()
    expect(performance.now() - began).to.be.below(20_000)
    socket.destroy()
  })

  it('completes requests in flight, and a first request that is on its way', async () => {
    const { socket, stop } = await start((_req, res) => void setTimeout(() => res.end('done'), 1_500))
    const stopped = stop()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(Buffer.concat(await socket.toArray()).toString()).to.match(/^HTTP\/1\.1 200 [\s\S]*done/)
    await stopped
  })

  it('serves requests during the shutdown delay, and closes the connection with the response', async () => {
    const { socket, stop } = await start((_req, res) => res.end('here'), 2)
    const send = () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    send()
    const [first] = await once(socket, 'data')
    expect(String(first)).to.match(/^HTTP\/1\.1 200 [\s\S]*Connection: keep-alive[\s\S]*here/)
    const stopped = stop()
    send()
    const rest = Buffer.concat(await socket.toArray()).toString()
    expect(rest).to.match(/^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*here/)
    await stopped
  })
})

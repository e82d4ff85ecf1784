import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { WebSocketServer } from 'ws'
import { connectWebSocket, UpgradeRejected, type WebSocketEvents } from './web-socket-client.ts'

describe('connectWebSocket', () => {
  let server: Server
  const received: { groups?: string | undefined; protocol?: string | undefined } = {}
  const sockets = new WebSocketServer({ noServer: true })

  before(async () => {
    server = createServer()
    server.on('upgrade', (req, socket, head) => {
      if (req.url === '/refused') {
        socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\nConnection: close\r\n\r\n{"a":1}')
        return
      }
      if (req.url === '/gone') {
        socket.destroy()
        return
      }
      received.groups = String(req.headers['impersonate-group'])
      received.protocol = req.headers['sec-websocket-protocol']
      sockets.handleUpgrade(req, socket, head, webSocket => {
        webSocket.on('message', data => webSocket.send(data))
        if (req.url === '/short') webSocket.close()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    sockets.close()
    server.close()
  })

  const connect = (path: string, events: Partial<WebSocketEvents> = {}) => {
    const { port } = server.address() as AddressInfo
    const url = new URL(path, `http://127.0.0.1:${port}`)
    const headers = ['Impersonate-Group', 'a', 'Impersonate-Group', 'b']
    const target = { url, tls: {}, protocols: ['v5', 'v4'], headers, timeoutMs: 5_000, maxMessageBytes: 64 }
    return connectWebSocket(target, { message: () => undefined, closed: () => undefined, ...events })
  }

  it('sends all values of a header, and messages in both directions', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const connection = await connect('/', { message: data => resolve(data.toString()) })
    await connection.send(Buffer.from('hello'))
    expect(await promise).to.equal('hello')
    expect(received).to.deep.equal({ groups: 'a, b', protocol: 'v5,v4' })
    connection.close()
    await connection.send(Buffer.from('after the end'))
  })

  it('reports when an open connection has closed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    await connect('/short', { closed: resolve })
    await promise
  })

  it('fails with the response of a server that rejects the handshake, and reports no end', async () => {
    let ends = 0
    const error = await connect('/refused', { closed: () => ends++ }).catch((rejection: unknown) => rejection)
    expect(error)
      .to.be.instanceOf(UpgradeRejected)
      .that.deep.includes({ code: 403, body: Buffer.from('{"a":1}') })
    expect(ends).to.equal(0)
  })

  it('fails without a response', async () => {
    const error = await connect('/gone').catch((failure: unknown) => failure)
    expect(error).to.be.instanceOf(Error).and.not.instanceOf(UpgradeRejected)
  })
})

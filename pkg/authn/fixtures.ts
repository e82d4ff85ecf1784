import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { startLoopback } from '../apirequest/fixtures.ts'

/** Returns a request as Node.js passes it to a server. */
export async function receiveRequest(headers: readonly string[]): Promise<IncomingMessage> {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  const loopback = await startLoopback((req, res) => {
    resolve(req)
    res.end()
  })
  const lines = []
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  const socket = connect(loopback.port, '127.0.0.1')
  socket.write(
    `GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`,
  )
  const req = await promise
  socket.destroy()
  await loopback.close()
  return req
}

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Endpoint } from '../kube/endpoint.ts'
import type { AuthenticatedExchange } from '../request/exchange.ts'
import { unavailable } from '../status/status.ts'
import { answerHeaders } from './headers.ts'
import { startRequest } from './kube.ts'

/**
 * Forwards an upgrade (exec, attach, port-forward: WebSocket and SPDY) to the orchestrator as its caller, and then joins
 * the two connections. Nothing of the stream is read here.
 *
 * @param head what the client has sent behind its handshake already
 * @throws Status 503 when the orchestrator cannot be reached
 */
export async function forwardUpgrade(
  endpoint: Endpoint,
  exchange: AuthenticatedExchange,
  head: Buffer,
): Promise<void> {
  const { req, res } = exchange
  const { socket } = req
  const protocol = req.headers.upgrade ?? ''
  const upstream = await startRequest(endpoint, exchange, { connection: 'Upgrade', upgrade: protocol })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  upstream.on('error', error => reject(unavailable('the orchestrator does not answer', error)))
  upstream.on('response', answer => {
    // Refused: the answer is an ordinary one.
    res.writeHead(answer.statusCode ?? 502, { ...answerHeaders(answer), connection: 'close' })
    answer.pipe(res)
    res.once('close', resolve)
  })
  upstream.on('upgrade', (answer: IncomingMessage, peer: Duplex, early: Buffer) => {
    res.detachSocket(socket)
    socket.write(toHandshake(answer))
    if (early.length > 0) socket.write(early)
    if (head.length > 0) peer.write(head)
    join(socket, peer)
    peer.once('close', resolve)
  })
  upstream.end()
  return promise
}

/** Bytes both ways; the end of one side is the end of the other's writing, a break of one breaks both. */
function join(a: Duplex, b: Duplex): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.pipe(to)
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
}

/** The 101 as the orchestrator gave it, hop-by-hop members included: they belong to the handshake. */
function toHandshake(answer: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`]
  for (let i = 0; i < answer.rawHeaders.length; i += 2) {
    lines.push(`${answer.rawHeaders[i]}: ${answer.rawHeaders[i + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

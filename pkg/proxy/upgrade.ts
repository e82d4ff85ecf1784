import type { ClientRequest, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Endpoint } from '../kube/endpoint.ts'
import type { AuthenticatedExchange } from '../request/exchange.ts'
import { upstreamFailure } from './failure.ts'
import { answerHeaders } from './headers.ts'
import { basePath, orchestratorHeaders } from './kube.ts'

const auditId: ReadonlySet<string> = new Set(['audit-id'])

/**
 * Forwards an upgrade (exec, attach, port-forward: WebSocket and SPDY) to the orchestrator as its caller, and then joins
 * the two connections. Nothing of the stream is read here.
 *
 * @param head what the client has sent behind its handshake already
 * @throws Status 502, 503 or 504 when the orchestrator does not answer
 */
export async function forwardUpgrade(
  endpoint: Endpoint,
  exchange: AuthenticatedExchange,
  head: Buffer,
): Promise<void> {
  const { req, res } = exchange
  const { socket } = req
  const upstream = await startUpgrade(endpoint, exchange)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abandon = () => upstream.destroy()
  res.once('close', abandon)
  upstream.on('error', error => {
    if (!res.headersSent) return reject(upstreamFailure('the orchestrator', error))
    res.destroy()
    resolve()
  })
  upstream.on('response', answer => {
    // Refused: the answer is an ordinary one.
    const lines = [...answerHeaders(answer.rawHeaders, auditId), 'Connection', 'close']
    res.writeHead(answer.statusCode ?? 502, lines)
    answer.pipe(res)
    res.once('close', resolve)
  })
  upstream.on('upgrade', (answer: IncomingMessage, peer: Duplex, early: Buffer) => {
    res.off('close', abandon)
    res.detachSocket(socket)
    res.statusCode = 101
    socket.write(toHandshake(answer))
    if (early.length > 0) socket.write(early)
    if (head.length > 0) peer.write(head)
    join(socket, peer)
    peer.once('close', () => {
      // Without a socket it does not notice its own end; access log, metrics and audit wait for it.
      res.emit('close')
      resolve()
    })
  })
  upstream.end()
  return promise
}

async function startUpgrade(endpoint: Endpoint, exchange: AuthenticatedExchange): Promise<ClientRequest> {
  const { req } = exchange
  const options = await endpoint.options()
  const own = Object.entries(options.headers ?? {}).flatMap(([name, value]) => [name, String(value)])
  const headers = [...orchestratorHeaders(exchange), ...own]
  headers.push('Host', endpoint.url.host, 'Connection', 'Upgrade', 'Upgrade', req.headers.upgrade ?? '')
  return request({ ...options, method: req.method, path: basePath(endpoint) + (req.url ?? '/'), headers })
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

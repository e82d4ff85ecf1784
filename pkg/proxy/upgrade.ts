import type { IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Endpoint } from '../kube/endpoint.ts'
import type { AuthenticatedExchange } from '../request/exchange.ts'
import { http } from '../request/node-http.ts'
import { formatTarget } from '../request/target.ts'
import type { Status } from '../status/status.ts'
import { componentHeaders } from './component-proxy.ts'
import type { ComponentUpstream } from './component-upstream.ts'
import { upstreamFailure } from './failure.ts'
import { answerHeaders, type HeaderLines } from './headers.ts'
import { holdRefusal, isHeld, type RefusalByBody } from './held-refusal.ts'
import { basePath, createRefusalByBody, orchestratorHeaders } from './kube.ts'
import { refuseRedirect } from './redirect.ts'

const auditId: ReadonlySet<string> = new Set(['audit-id'])

/** Where an upgrade goes on to, and what is said there beside the upgrade itself. */
export type UpgradeTarget = {
  /** Host, port and what the connection needs. */
  readonly options: RequestOptions
  readonly isSecure: boolean
  readonly path: string
  readonly headers: HeaderLines
  /** What does not answer when it does not, for the caller to read. */
  readonly upstream: string
  /** Why an answer that is no upgrade is not handed on; see relay. */
  readonly refusal?: (code: number, lines: HeaderLines) => Status | undefined
  /** The same for a 401 and a 403, by the body; see relay. */
  readonly refusalByBody?: RefusalByBody
}

/** The orchestrator, as the caller. */
export async function kubeUpgrade(
  endpoint: Endpoint,
  exchange: AuthenticatedExchange,
): Promise<UpgradeTarget> {
  const options = await endpoint.options()
  const own = Object.entries(options.headers ?? {}).flatMap(([name, value]) => [name, String(value)])
  return {
    options,
    isSecure: true,
    path: basePath(endpoint) + formatTarget(exchange),
    headers: [...orchestratorHeaders(exchange), ...own, 'Host', endpoint.url.host],
    upstream: 'the orchestrator',
    refusalByBody: createRefusalByBody(endpoint),
  }
}

/** A component, which is told who the caller is. */
export function componentUpgrade(target: ComponentUpstream, exchange: AuthenticatedExchange): UpgradeTarget {
  const { url, name } = target.component
  const isSecure = url.protocol === 'https:'
  return {
    options: { host: url.hostname, port: url.port || (isSecure ? 443 : 80), agent: false, ...target.tls },
    isSecure,
    path: url.pathname.replace(/\/$/, '') + formatTarget(exchange),
    headers: [...componentHeaders(target, exchange), 'Host', url.host],
    upstream: `the component ${name}`,
    refusal: refuseRedirect(`the component ${name}`, exchange.req),
  }
}

/**
 * Forwards an upgrade (exec, attach, port-forward: WebSocket and SPDY), and then joins the two connections. Nothing of the
 * stream is read here.
 *
 * @throws Status 502, 503 or 504 when the other side does not answer
 */
export function forwardUpgrade(
  target: UpgradeTarget,
  exchange: Pick<AuthenticatedExchange, 'req' | 'res' | 'upgrade' | 'lasts'>,
): Promise<void> {
  const { req, res, upgrade: head = Buffer.alloc(0) } = exchange
  const { socket } = req
  const { options, path } = target
  const headers = [...target.headers, 'Connection', 'Upgrade', 'Upgrade', req.headers.upgrade ?? '']
  const begin = target.isSecure ? httpsRequest : http.request
  const upstream = begin({ ...options, method: req.method, path, headers })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abandon = () => upstream.destroy()
  res.once('close', abandon)
  upstream.on('error', error => {
    if (!res.headersSent) return reject(upstreamFailure(target.upstream, error))
    res.destroy()
    resolve()
  })
  upstream.on('response', answer => {
    // Refused: the answer is an ordinary one.
    const lines = [...answerHeaders(answer.rawHeaders, auditId), 'Connection', 'close']
    const refused = target.refusal?.(answer.statusCode ?? 502, lines)
    if (refused !== undefined) {
      abandon()
      return reject(refused)
    }
    const handOn = (early: readonly Buffer[]) => {
      res.once('close', resolve)
      res.writeHead(answer.statusCode ?? 502, lines)
      for (const chunk of early) res.write(chunk)
      if (answer.readableEnded) res.end()
      else answer.pipe(res)
    }
    answer.once('error', error => {
      if (!res.headersSent) return reject(upstreamFailure(target.upstream, error))
      // A broken answer must not look like a short one.
      res.destroy()
    })
    const { statusCode: code = 502 } = answer
    const judge = isHeld(code) ? target.refusalByBody : undefined
    if (judge === undefined) handOn([])
    else holdRefusal(answer, body => judge(code, body), { handOn, refuse: reject })
  })
  upstream.on('upgrade', (answer: IncomingMessage, peer: Duplex, early: Buffer) => {
    res.off('close', abandon)
    res.detachSocket(socket)
    res.statusCode = 101
    exchange.lasts?.()
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

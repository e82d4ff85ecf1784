import type { Endpoint } from '../kube/endpoint.ts'
import { isNotYetReady } from '../kube/own-refusal.ts'
import type { AuthenticatedExchange, Handler } from '../request/exchange.ts'
import { isLongRunning } from '../request/long-running.ts'
import { Status } from '../status/status.ts'
import type { KubeConnections } from './connections.ts'
import { forwardableHeaders, type HeaderLines } from './headers.ts'
import type { RefusalByBody } from './held-refusal.ts'
import { toImpersonation } from './impersonation.ts'
import { relay } from './relay.ts'

/**
 * Forwards a request to the orchestrator as its caller, and the answer as it comes.
 *
 * @throws Status 502, 503 or 504 when the orchestrator does not answer; what it answers itself is passed on
 */
export function createKubeProxy(endpoint: Endpoint, upstreams: KubeConnections): Handler {
  const base = basePath(endpoint)
  const refusalByBody = createRefusalByBody(endpoint)
  return async exchange => {
    const { req, info, query } = exchange
    const isLive = isLongRunning(info, query)
    const { connections, credential } = await upstreams.line(isLive)
    const path = base + (req.url ?? '/')
    const headers = [...orchestratorHeaders(exchange), ...credential]
    const upstream = 'the orchestrator'
    return relay({ connections, path, headers, isLive, upstream, refusalByBody }, exchange)
  }
}

// Expect is this hop's own: node has answered it with 100 by now.
const notForward: ReadonlySet<string> = new Set(['authorization', 'cookie', 'host', 'expect', 'audit-id'])

/** What the orchestrator is told of a request, but for the credential of Kapis. */
export function orchestratorHeaders({ req, identity, id }: AuthenticatedExchange): HeaderLines {
  const headers = forwardableHeaders(req, notForward)
  headers.push(...toImpersonation(identity), 'Audit-Id', id)
  return headers
}

/**
 * Refusals that are not about the caller. A 401 is about Kapis: its credential has expired, or kube-apiserver starts and cannot
 * check it yet. A 403 may be: kube-apiserver that starts does not know the rights of Kapis yet, or cannot judge what is written, and
 * says so. The caller has lost nothing, and asks again.
 */
export function createRefusalByBody(endpoint: Pick<Endpoint, 'refused'>): RefusalByBody {
  return (code, body) => {
    // In JSON as in protobuf the message stands as it is, but for the quotes. Headers that impersonate are made here alone.
    const text = body.toString('latin1')
    if (code === 401) {
      // What runs in a Pod, and is reached by its proxy subresource, has refusals of its own.
      if (!isKubeStatus(text) || !text.includes('Unauthorized')) return undefined
      endpoint.refused()
      return notLetAct(body)
    }
    const isAboutKapis =
      / is forbidden: User \\?"[^"\\]+\\?" cannot impersonate/.test(text) || isNotYetReady(text)
    return isAboutKapis ? notLetAct(body) : undefined
  }
}

function isKubeStatus(text: string): boolean {
  return text.startsWith('{"kind":"Status","apiVersion":"v1"') || text.startsWith('k8s\0')
}

function notLetAct(body: Buffer): Status {
  return new Status(503, 'ServiceUnavailable', 'the orchestrator does not let Kapis act for its callers', {
    cause: new Error(body.toString('utf8').slice(0, 1_000)),
    details: { retryAfterSeconds: 1 },
    headers: { 'retry-after': '1', 'proxy-status': 'kapis; error=http_request_denied' },
  })
}

export function basePath({ url }: Endpoint): string {
  return url.pathname.replace(/\/$/, '')
}

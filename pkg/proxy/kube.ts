import type { Endpoint } from '../kube/endpoint.ts'
import type { AuthenticatedExchange, Handler } from '../request/exchange.ts'
import { isLongRunning } from '../request/long-running.ts'
import type { KubeConnections } from './connections.ts'
import { forwardableHeaders, type HeaderLines } from './headers.ts'
import { toImpersonation } from './impersonation.ts'
import { relay } from './relay.ts'

/**
 * Forwards a request to the orchestrator as its caller, and the answer as it comes.
 *
 * @throws Status 502, 503 or 504 when the orchestrator does not answer; what it answers itself is passed on
 */
export function createKubeProxy(endpoint: Endpoint, connections: KubeConnections): Handler {
  const base = basePath(endpoint)
  return async exchange => {
    const { req, info, query } = exchange
    const { dispatcher, credential } = await connections.line(isLongRunning(info, query))
    const path = base + (req.url ?? '/')
    const headers = [...orchestratorHeaders(exchange), ...credential]
    return relay({ dispatcher, path, headers, upstream: 'the orchestrator' }, exchange)
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

export function basePath({ url }: Endpoint): string {
  return url.pathname.replace(/\/$/, '')
}

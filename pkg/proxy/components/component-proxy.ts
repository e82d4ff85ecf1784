import { isStatus, Status } from '../../apierrors/status.ts'
import { mayBeLongRunning } from '../../apirequest/long-running.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { formatTarget } from '../../apirequest/target.ts'
import { forwardableHeaders, type HeaderLines } from '../headers.ts'
import { toRemoteHeaders } from '../identity-headers.ts'
import { rejectRedirect } from '../redirect.ts'
import { relay } from '../reverse-proxy.ts'
import type { ComponentUpstream } from './component-upstream.ts'

const notForward: ReadonlySet<string> = new Set(['authorization', 'cookie', 'host', 'expect', 'audit-id'])

/**
 * Proxies an authorized request to a component, with the caller in headers that the front-proxy
 * certificate authenticates. The credential of the caller is not forwarded.
 *
 * @throws Status 502, 503, 504 if the component is not responding; 502 for a redirect to another
 * host; 503 immediately while the circuit breaker is open
 */
export async function forwardToComponent(
  upstream: ComponentUpstream,
  exchange: AuthenticatedExchange,
): Promise<void> {
  const { component, breaker } = upstream
  const { req, res } = exchange
  const isLive = mayBeLongRunning(exchange)
  const connections = isLive ? upstream.long : upstream.short
  const path = component.url.pathname.replace(/\/$/, '') + formatTarget(exchange)
  const begun = () => {
    if (isLive) exchange.markLongRunning?.()
  }
  const outgoing = { connections, path, headers: componentHeaders(upstream, exchange), isLive, begun }
  if (!breaker.mayTry()) throw notResponding(component.name)
  const name = `the component ${component.name}`
  const ofRedirect = rejectRedirect(name, req)
  let redirectError: Status | undefined
  const rejection = (code: number, lines: HeaderLines) => {
    redirectError = ofRedirect(code, lines)
    return redirectError
  }
  try {
    await relay({ ...outgoing, upstream: name, rejection }, exchange)
  } catch (error) {
    // A component that sends an invalid redirect is still available.
    if (error === redirectError) breaker.succeeded()
    // A request that is invalid and was not sent does not indicate a failure of the component.
    else if (isStatus(error, 400)) breaker.abandoned()
    else breaker.failed()
    throw error
  }
  if (res.headersSent) breaker.succeeded()
  else breaker.abandoned()
}

/**
 * The headers of a request to a component: those of the caller without credentials, and the identity
 * of the caller if the connection uses TLS.
 *
 * @throws Status 403 for an identity that a header cannot carry unchanged
 */
export function componentHeaders(
  { component }: ComponentUpstream,
  exchange: AuthenticatedExchange,
): HeaderLines {
  const { req, identity, id } = exchange
  const headers = forwardableHeaders(req, notForward)
  headers.push('Audit-Id', id)
  headers.push('X-Forwarded-Proto', 'encrypted' in req.socket ? 'https' : 'http')
  if (req.headers.host !== undefined) headers.push('X-Forwarded-Host', req.headers.host)
  if (req.socket.remoteAddress !== undefined) headers.push('X-Forwarded-For', req.socket.remoteAddress)
  // Without TLS the component could not verify these headers, and nothing authenticates them.
  if (component.url.protocol === 'https:') headers.push(...toRemoteHeaders(identity))
  return headers
}

function notResponding(name: string): Status {
  return new Status(503, 'ServiceUnavailable', `the component ${name} is not responding`, {
    details: { retryAfterSeconds: 10 },
    headers: { 'retry-after': '10', 'proxy-status': 'kapis; error=destination_unavailable' },
  })
}

import { hasNoCredential } from '../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../apirequest/request-context.ts'
import type { RequestInfo } from '../apirequest/request-info.ts'
import type { Authorize, NarrowList } from './authorizer.ts'
import { assertInScope } from './token-scope.ts'

export type RequestAuthorizationOptions = {
  /** Reports whether kube-apiserver serves the request, and authorizes its caller. */
  readonly isProxied: (exchange: AuthenticatedExchange) => boolean
  /** Reports whether the request concerns the caller's own user, which needs no permission. */
  readonly isOwn: (exchange: AuthenticatedExchange) => boolean
  /** Reports whether the handler filters its response by the permissions of the caller. */
  readonly authorizesItself: (exchange: AuthenticatedExchange) => boolean
  readonly attributesOf: (exchange: AuthenticatedExchange) => Promise<RequestInfo> | RequestInfo
  readonly authorize: Authorize
  /**
   * Returns a function that narrows a denied cluster-wide list to the namespaces that the caller
   * may list; undefined for other requests.
   */
  readonly narrow: (exchange: AuthenticatedExchange, attributes: RequestInfo) => NarrowList | undefined
}

export type AuthorizeRequest = (exchange: AuthenticatedExchange) => Promise<void> | 'delegated' | void

/**
 * Authorizes a request, or returns 'delegated' if its handler authorizes it. kube-apiserver
 * authorizes requests that are proxied to it as the caller; those without a credential are
 * authorized here. The returned function throws a Status: 400 for repeated selectors, 403, 503.
 */
export function createAuthorizeRequest(options: RequestAuthorizationOptions): AuthorizeRequest {
  const { isOwn, authorizesItself, attributesOf, narrow } = options
  return exchange => {
    const { info, identity, query } = exchange
    // Checked before proxying: a proxied request has the identity but not the token's scope.
    assertInScope(info, identity)
    const isProxied = options.isProxied(exchange)
    // kube-apiserver itself parses the query of proxied requests.
    if (!isProxied) query.rejectAmbiguousSelection()
    if (isOwn(exchange)) return
    if (isProxied && !hasNoCredential(identity)) return 'delegated'
    if (authorizesItself(exchange)) return 'delegated'
    const attributes = attributesOf(exchange)
    const authorize = (found: RequestInfo) => options.authorize(found, identity, narrow(exchange, found))
    return attributes instanceof Promise ? attributes.then(authorize) : authorize(attributes)
  }
}

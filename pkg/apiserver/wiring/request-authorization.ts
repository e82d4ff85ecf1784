import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { type RequestInfo, withoutSelectors } from '../../apirequest/request-info.ts'
import { type AuthorizeRequest, createAuthorizeRequest } from '../../authz/authorize-request.ts'
import { isNarrowable } from '../../authz/narrowing/narrowed-lists.ts'
import type { Config } from '../../config/config.ts'
import type { Apis } from './apis/apis.ts'
import type { Auth } from './auth/auth.ts'
import type { Router } from './path-router.ts'
import type { Rbac } from './rbac.ts'
import type { Subrequests } from './subrequests.ts'

export type RequestAuthorization = {
  readonly attributesOf: (exchange: AuthenticatedExchange) => Promise<RequestInfo> | RequestInfo
  readonly authorize: AuthorizeRequest
}

export function createRequestAuthorization(parts: {
  readonly access: Pick<Auth, 'authorize'>
  readonly apis: Pick<
    Apis,
    'resources' | 'logs' | 'tenant' | 'iam' | 'terminal' | 'operations' | 'components'
  >
  readonly subrequests: Pick<Subrequests, 'authorizesItself'>
  readonly router: Pick<Router, 'isProxied' | 'narrows'>
  readonly rbac: Pick<Rbac, 'narrowed'>
  readonly live: () => Config
}): RequestAuthorization {
  const { access, apis, subrequests, router, rbac, live } = parts
  const { resources, logs, tenant, iam, terminal, operations, components } = apis

  function attributesOf(exchange: AuthenticatedExchange) {
    const { info } = exchange
    if (router.isProxied(exchange)) return info
    // A request for a kind of another group is authorized as a request for that kind, which the
    // resource cache looks up.
    const native =
      tenant.attributesOf(exchange) ?? terminal.attributesOf(exchange) ?? resources.attributesOf(exchange)
    if (native !== undefined) return native
    const isSelecting = resources.selects(info) && !components.serves(info.group, info.version)
    return isSelecting ? info : withoutSelectors(info)
  }

  const authorize = createAuthorizeRequest({
    isProxied: router.isProxied,
    isOwn: exchange => iam.isOwn(exchange) || resources.isOwn(exchange),
    authorizesItself: exchange =>
      [logs, tenant, iam, operations, subrequests].some(part => part.authorizesItself(exchange)),
    attributesOf,
    authorize: access.authorize,
    narrow: (exchange, attributes) =>
      live().cache.clusterLists === 'narrowed' &&
      isNarrowable(attributes, exchange.identity) &&
      router.narrows(exchange)
        ? attributes => rbac.narrowed.narrow(exchange, attributes, () => resources.isNamespaced(exchange))
        : undefined,
  })
  return { attributesOf, authorize }
}

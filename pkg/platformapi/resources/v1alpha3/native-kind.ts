import type { AuthenticatedExchange } from '../../../apirequest/request-context.ts'
import { isPlatformPrefix, type RequestInfo } from '../../../apirequest/request-info.ts'
import type { Kind } from '../../../resourcecache/kind.ts'
import { isForComponents } from '../../components/serve.ts'
import { isForRegistries } from '../../registries/serve.ts'

export type NativeKindsOptions = {
  /** `resources.<group domain>`. */
  readonly group: string
  readonly version: string
  /** Returns whether discovery lists a kind in this group, to which its RBAC rules apply. */
  readonly isDeclared: (plural: string) => boolean
  /** Returns the kind of a plural; undefined if it is not served. @throws Status 503 */
  readonly find: (plural: string) => Promise<Kind | undefined>
}

export type NativeKinds = {
  /** Returns the attributes to authorize a request with; undefined for kinds of this group. */
  readonly attributesOf: (exchange: AuthenticatedExchange) => Promise<RequestInfo> | undefined
  /** Returns the kind that a request was authorized for; undefined if there is none. */
  readonly of: (exchange: AuthenticatedExchange) => Kind | undefined
}

/**
 * Resolves kinds of other groups that are served under resources.<group domain>, such as
 * `/kapis/resources.<group domain>/v1alpha3/secrets`. A read requires the permission on the kind
 * itself (`secrets` in the core group), as `kubectl auth can-i` reports it. The plural is resolved
 * once per request, so that authorization and handler use the same kind.
 */
export function createNativeKinds(options: NativeKindsOptions): NativeKinds {
  const { group, version, isDeclared, find } = options
  // The key is the response: an upgraded request continues with another RequestContext.
  const found = new WeakMap<object, Kind>()

  function isNative({ info }: AuthenticatedExchange): boolean {
    const { prefix, resource } = info
    const isHere = isPlatformPrefix(prefix) && info.group === group && info.version === version
    return isHere && !isDeclared(resource) && !isForComponents(resource) && !isForRegistries(resource)
  }

  async function lookUp({ res, info }: AuthenticatedExchange): Promise<RequestInfo> {
    const kind = await find(info.resource)
    // A request for an unknown plural is authorized with that plural; the response is a 404.
    if (kind === undefined) return info
    found.set(res, kind)
    return { ...info, group: kind.source.group, version: kind.source.version }
  }

  return {
    attributesOf: exchange => (isNative(exchange) ? lookUp(exchange) : undefined),
    of: ({ res }) => found.get(res),
  }
}

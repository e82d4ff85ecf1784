import type { Identity } from '../../apirequest/identity/identity.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import type { RbacReader } from '../rbac/rbac-index.ts'
import { appliesTo, createRuleFinder } from '../review/grant.ts'

/**
 * A ClusterRole whose users pass the authorization of kube-apiserver for lists of the extension
 * API. It grants access to no objects: Kapis decides by the permission on the native kind
 * (docs/adr/0019).
 */
export const narrowingRole = 'kapis:narrowed-lists'

export type NarrowingRole = {
  /**
   * Returns the attributes with which an allowed request must be authorized instead; undefined if
   * the decision is final.
   *
   * @param reason the reason why kube-apiserver has allowed the request
   * @throws Status 503 before the first lists
   */
  readonly decidedBy: (info: RequestInfo, identity: Identity, reason: string) => RequestInfo | undefined
  /**
   * Returns the attributes with which a denied list is authorized in single namespaces, where the
   * permissions of the narrowing role must not grant access either.
   *
   * @throws Status 503 before the first lists
   */
  readonly narrowedBy: (info: RequestInfo, identity: Identity) => RequestInfo
}

export type NarrowingRoleOptions = {
  readonly reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf' | 'clusterBindings' | 'onChange'>
  /** The group resources.<group domain>. */
  readonly group: string
  /** The kinds of the extension API. */
  readonly kinds: readonly Pick<Kind, 'plural' | 'namespaced' | 'source'>[]
}

/**
 * Recognizes requests that only the narrowing role allows, by the bindings of the caller and by the
 * reason of kube-apiserver. The reason may name the role before its binding has arrived here.
 *
 * While the role is bound, other roles only count if they also grant `get`. Otherwise a caller with
 * the narrowing role could copy its permissions into another role, which the escalation check of
 * kube-apiserver allows.
 */
export function createNarrowingRole({ reader, group, kinds }: NarrowingRoleOptions): NarrowingRole {
  // RBAC quotes names like Go, so the name of a binding cannot contain this text.
  const allowedByIt = `of ClusterRole ${JSON.stringify(narrowingRole)} to `
  let isBoundKnown: boolean | undefined
  reader.onChange(() => {
    isBoundKnown = undefined
  })
  function isBound(): boolean {
    isBoundKnown ??= [...reader.clusterBindings()].some(({ role }) => role === narrowingRole)
    return isBoundKnown
  }

  function nativeOf(info: RequestInfo): RequestInfo | undefined {
    if (!info.isResource || info.group !== group) return undefined
    const kind = kinds.find(({ plural, namespaced }) => namespaced && plural === info.resource)
    return kind && { ...info, group: kind.source.group, version: kind.source.version }
  }

  return {
    decidedBy(info, identity, reason) {
      const native = nativeOf(info)
      if (native === undefined) return undefined
      const isNamed = reason.includes(allowedByIt)
      if (!isNamed && !(isList(info) && isBound())) return undefined
      const attributes = { ...info, isResource: true as const }
      const findRule = createRuleFinder(reader, attributes)
      const findGet = createRuleFinder(reader, { ...attributes, verb: 'get' })
      const counting = reader
        .bindingsOf(identity)
        .filter(binding => appliesTo(binding, attributes) && findRule(binding.role) !== undefined)
      const isOther = counting.some(({ role }) => role !== narrowingRole && findGet(role) !== undefined)
      // If no role allows the request, another authorizer does.
      return isOther || (!isNamed && counting.length === 0) ? undefined : native
    },
    narrowedBy(info, identity) {
      const native = nativeOf(info)
      if (native === undefined || !isList(info)) return info
      const isGiven = isBound() || reader.bindingsOf(identity).some(({ role }) => role === narrowingRole)
      return isGiven ? native : info
    },
  }
}

function isList({ verb }: RequestInfo): boolean {
  return verb === 'list' || verb === 'watch'
}

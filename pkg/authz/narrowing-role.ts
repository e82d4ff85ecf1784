import type { Identity } from '../apirequest/identity.ts'
import type { RequestInfo } from '../apirequest/request-info.ts'
import type { Kind } from '../resourcecache/kind.ts'
import type { RbacReader } from './rbac-index.ts'
import { createRuleFinder, isInReach } from './review/grant.ts'

/**
 * A ClusterRole whose rights are a door: it lets lists of everybody through the authorization of
 * kube-apiserver to its aggregation layer, and here the right to the kind itself decides
 * (docs/adr/0019).
 */
export const narrowingRole = 'kapis:narrowed-lists'

export type NarrowingRole = {
  /**
   * Returns the attributes that decide in the place of a request which is allowed; undefined if
   * that decision stands.
   *
   * @param reason of kube-apiserver for allowing it
   * @throws Status 503 before the first lists
   */
  readonly decidedBy: (info: RequestInfo, identity: Identity, reason: string) => RequestInfo | undefined
}

export type NarrowingRoleOptions = {
  readonly reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf'>
  /** resources.<group domain> */
  readonly group: string
  /** The kinds of the extension API. */
  readonly kinds: readonly Pick<Kind, 'plural' | 'namespaced' | 'source'>[]
}

/**
 * Recognizes the role by the reason of kube-apiserver's RBAC authorizer, which names one of the
 * roles that allow a request: no change of a binding can be missed. Other roles of the caller count
 * as ever.
 */
export function createNarrowingRole({ reader, group, kinds }: NarrowingRoleOptions): NarrowingRole {
  // RBAC quotes names as Go does, so that no name of a binding can hold this text.
  const allowedByIt = `of ClusterRole ${JSON.stringify(narrowingRole)} to `
  return {
    decidedBy(info, identity, reason) {
      if (!info.isResource || !reason.includes(allowedByIt)) return undefined
      const kind = kinds.find(({ plural, namespaced }) => namespaced && plural === info.resource)
      if (kind === undefined || info.group !== group) return undefined
      const attributes = { ...info, isResource: true as const }
      const findRule = createRuleFinder(reader, attributes)
      const isOther = reader
        .bindingsOf(identity)
        .some(
          binding =>
            binding.role !== narrowingRole &&
            isInReach(binding, attributes) &&
            findRule(binding.role) !== undefined,
        )
      return isOther ? undefined : { ...info, group: kind.source.group, version: kind.source.version }
    },
  }
}

import type { Identity } from '../../apirequest/identity/identity.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import type { RbacReader } from '../rbac/rbac-index.ts'
import { appliesTo, createRuleFinder } from './grant.ts'

/** Detects changes of RBAC that may affect a cached decision. */
export type RbacCheck = {
  /** Returns a number that grows with every change of roles or bindings. */
  readonly generation: () => number
  /** Returns whether RBAC allows a request; undefined before the first lists. */
  readonly allows: (info: RequestInfo, identity: Identity) => boolean | undefined
}

export function createRbacCheck(reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf' | 'onChange'>): RbacCheck {
  let generation = 0
  reader.onChange(() => generation++)
  return {
    generation: () => generation,
    allows(info, identity) {
      const findRule = createRuleFinder(reader, info)
      try {
        return reader
          .bindingsOf(identity)
          .some(binding => appliesTo(binding, info) && findRule(binding.role) !== undefined)
      } catch {
        return undefined
      }
    },
  }
}

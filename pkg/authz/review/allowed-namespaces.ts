import { type Identity, isSuperuser } from '../../apirequest/identity/identity.ts'
import type { RbacReader } from '../rbac/rbac-index.ts'
import { createRuleFinder } from './grant.ts'
import type { AccessAttributes } from './rule.ts'

export type AllowedNamespaces = {
  /** Whether the permission is cluster-wide. */
  readonly allNamespaces: boolean
  /** The namespaces in which a RoleBinding grants the permission. */
  readonly namespaces: readonly string[]
}

/**
 * Returns the namespaces in which a caller may make a request.
 *
 * @param attributes the request, whose namespace is ignored
 * @throws Status 503 before the first lists
 */
export function allowedNamespaces(
  reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf'>,
  identity: Identity,
  attributes: AccessAttributes,
): AllowedNamespaces {
  if (isSuperuser(identity)) return { allNamespaces: true, namespaces: [] }
  const findRule = createRuleFinder(reader, attributes)
  const allowing = reader.bindingsOf(identity).filter(({ role }) => findRule(role) !== undefined)
  const bound = new Set(allowing.map(({ namespace }) => namespace))
  const allNamespaces = bound.delete('')
  return { allNamespaces, namespaces: [...bound].sort() }
}

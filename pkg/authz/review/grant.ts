import type { Identity } from '../../apirequest/identity/identity.ts'
import type { Binding, RbacReader } from '../rbac/rbac-index.ts'
import { type AccessAttributes, type Rule, ruleAllows, toPolicyRule } from './rule.ts'

/** A reference to a binding or role, in the format of review statuses. */
export type ObjectRef = { readonly kind: string; readonly name: string; readonly namespace?: string }

/** The source of a permission: a binding, its role and the first rule that allows the request. */
export type Grant = {
  readonly binding: ObjectRef
  readonly role: ObjectRef
  readonly rule: Partial<Rule>
}

/** Reports whether a binding applies: a RoleBinding only does in its own namespace. */
export function appliesTo({ namespace }: Binding, attributes: AccessAttributes): boolean {
  return namespace === '' || (attributes.isResource && namespace === attributes.namespace)
}

/** Returns a function that finds the rule of a role for a request, checking each once. */
export function createRuleFinder(
  reader: Pick<RbacReader, 'rulesOf'>,
  attributes: AccessAttributes,
): (role: string) => Rule | undefined {
  const found = new Map<string, Rule | undefined>()
  return role => {
    if (!found.has(role))
      found.set(
        role,
        reader.rulesOf(role)?.find(rule => ruleAllows(rule, attributes)),
      )
    return found.get(role)
  }
}

/** Returns the grants that allow a request, like the RBAC authorizer of kube-apiserver. */
export function grantsOf(
  reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf'>,
  identity: Identity,
  attributes: AccessAttributes,
): readonly Grant[] {
  const findRule = createRuleFinder(reader, attributes)
  return reader.bindingsOf(identity).flatMap(binding => {
    const rule = appliesTo(binding, attributes) ? findRule(binding.role) : undefined
    return rule === undefined ? [] : [toGrant(binding, rule)]
  })
}

export function toGrant(binding: Binding, rule: Rule): Grant {
  return { ...refsOf(binding), rule: toPolicyRule(rule) }
}

export function refsOf({ namespace, name, role }: Binding): Pick<Grant, 'binding' | 'role'> {
  const binding =
    namespace === '' ? { kind: 'ClusterRoleBinding', name } : { kind: 'RoleBinding', name, namespace }
  return { binding, role: toRoleRef(role) }
}

/** @param role `name` of a ClusterRole, `namespace/name` of a Role */
export function toRoleRef(role: string): ObjectRef {
  const slash = role.indexOf('/')
  if (slash < 0) return { kind: 'ClusterRole', name: role }
  return { kind: 'Role', name: role.slice(slash + 1), namespace: role.slice(0, slash) }
}

/** Formats a reference, such as `RoleBinding "dev" in the namespace "shop"`. */
export function refText({ kind, name, namespace }: ObjectRef): string {
  const place = namespace === undefined ? '' : ` in the namespace ${JSON.stringify(namespace)}`
  return `${kind} ${JSON.stringify(name)}${place}`
}

import { type Identity, isSuperuser } from '../../apirequest/identity/identity.ts'
import type { Binding, RbacReader } from '../rbac/rbac-index.ts'
import { type Grant, type ObjectRef, refsOf, toRoleRef } from './grant.ts'
import { type AccessAttributes, type Rule, ruleAllows, toPolicyRule } from './rule.ts'

type BindingWithRole = Pick<Grant, 'binding' | 'role'>

/** The permissions of a caller, with each role once: many namespaces bind the same. */
export type AccessReport = {
  /** Bindings that apply in the whole cluster. */
  readonly cluster: readonly BindingWithRole[]
  /** Additional bindings by namespace. */
  readonly namespaces: readonly {
    readonly namespace: string
    readonly bindings: readonly BindingWithRole[]
  }[]
  /** Every role of the bindings. A role that does not exist has no rules and grants nothing. */
  readonly roles: readonly {
    readonly role: ObjectRef
    readonly isMissing?: true
    readonly rules: readonly Partial<Rule>[]
  }[]
  readonly notes: readonly string[]
}

/** @param namespace to report; '' for all @throws Status 503 before the first lists */
export function accessReport(
  reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf'>,
  identity: Identity,
  namespace: string,
): AccessReport {
  const bindings = reader
    .bindingsOf(identity)
    .filter(binding => namespace === '' || binding.namespace === '' || binding.namespace === namespace)
  const byNamespace = Map.groupBy(bindings, binding => binding.namespace)
  const cluster = sorted(byNamespace.get('') ?? [])
  byNamespace.delete('')
  return {
    cluster,
    namespaces: [...byNamespace]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inside]) => ({ namespace: name, bindings: sorted(inside) })),
    roles: [...new Set(bindings.map(({ role }) => role))].sort().map(role => toRole(reader, role)),
    notes: notesOf(reader, identity, bindings),
  }
}

function sorted(bindings: readonly Binding[]): readonly BindingWithRole[] {
  return [...bindings].sort((a, b) => (a.name < b.name ? -1 : 1)).map(refsOf)
}

function toRole(reader: Pick<RbacReader, 'rulesOf'>, role: string): AccessReport['roles'][number] {
  const rules = reader.rulesOf(role)
  if (rules === undefined) return { role: toRoleRef(role), isMissing: true, rules: [] }
  return { role: toRoleRef(role), rules: rules.map(toPolicyRule) }
}

const impersonation = ['users', 'groups', 'serviceaccounts'].map((resource): AccessAttributes => {
  const nothing = { subresource: '', name: '', namespace: '' }
  return { isResource: true, verb: 'impersonate', group: '', resource, ...nothing }
})

function notesOf(
  reader: Pick<RbacReader, 'rulesOf'>,
  identity: Identity,
  bindings: readonly Binding[],
): readonly string[] {
  const notes: string[] = []
  if (isSuperuser(identity)) notes.push('the group "system:masters" is allowed everything, without a binding')
  const inCluster = bindings.filter(({ namespace }) => namespace === '')
  const impersonated = impersonation.filter(attributes =>
    inCluster.some(({ role }) => reader.rulesOf(role)?.some(rule => ruleAllows(rule, attributes))),
  )
  if (impersonated.length > 0) {
    const what = impersonated.map(attributes => (attributes.isResource ? attributes.resource : ''))
    notes.push(`may impersonate ${what.join(', ')}, and thereby use their permissions`)
  }
  return notes
}

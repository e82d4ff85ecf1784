import { splitServiceAccount } from '../../apirequest/identity/identity.ts'
import type { Binding, RbacReader } from '../rbac/rbac-index.ts'
import { createRuleFinder, type Grant, isInReach, toGrant } from './grant.ts'
import type { AccessAttributes } from './rule.ts'

/**
 * A Subject of rbac.authorization.k8s.io/v1, and the grants that allow it access. `grants` is empty
 * for subjects that kube-apiserver allows without RBAC.
 */
export type SubjectWithGrants = {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  readonly namespace?: string
  readonly grants: readonly Grant[]
}

export type WhoCan = {
  readonly subjects: readonly SubjectWithGrants[]
  readonly notes: readonly string[]
}

type Reader = Pick<RbacReader, 'clusterBindings' | 'bindingsIn' | 'rulesOf'>

const superusers = 'group system:masters'

/**
 * Returns the subjects that may make a request, including the superuser group. Members of a
 * returned group may make it too.
 *
 * @throws Status 503 before the first lists
 */
export function whoCan(reader: Reader, attributes: AccessAttributes): WhoCan {
  const grants = subjectsWith(reader, attributes)
  if (!grants.has(superusers)) grants.set(superusers, [])
  const subjects = [...grants]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, given]) => ({ ...toSubject(key), grants: given }))
  return { subjects, notes: [superuserNote, ...escalationNotes(reader)] }
}

const superuserNote = 'kube-apiserver allows the group "system:masters" everything, without a binding'

function subjectsWith(reader: Reader, attributes: AccessAttributes): Map<string, Grant[]> {
  const findRule = createRuleFinder(reader, attributes)
  const grants = new Map<string, Grant[]>()
  for (const binding of bindingsFor(reader, attributes)) {
    const rule = isInReach(binding, attributes) ? findRule(binding.role) : undefined
    if (rule === undefined) continue
    const grant = toGrant(binding, rule)
    for (const key of new Set(binding.subjects)) {
      const given = grants.get(key) ?? []
      given.push(grant)
      grants.set(key, given)
    }
  }
  return grants
}

function* bindingsFor(reader: Reader, attributes: AccessAttributes): Generator<Binding> {
  yield* reader.clusterBindings()
  if (attributes.isResource && attributes.namespace !== '') yield* reader.bindingsIn(attributes.namespace)
}

/** @param key a key of subjectKeys, such as `user jane` or `group dev` */
function toSubject(key: string): Omit<SubjectWithGrants, 'grants'> {
  const space = key.indexOf(' ')
  const name = key.slice(space + 1)
  if (key.startsWith('group ')) return { kind: 'Group', name }
  const account = splitServiceAccount(name)
  return account === undefined ? { kind: 'User', name } : { kind: 'ServiceAccount', ...account }
}

const escalations = [
  { verb: 'impersonate', group: '', resource: 'users', text: 'may impersonate users' },
  { verb: 'impersonate', group: '', resource: 'groups', text: 'may impersonate groups' },
  {
    verb: 'escalate',
    group: 'rbac.authorization.k8s.io',
    resource: 'clusterroles',
    text: 'may write ClusterRoles with permissions that they do not have',
  },
  {
    verb: 'bind',
    group: 'rbac.authorization.k8s.io',
    resource: 'clusterroles',
    text: 'may bind ClusterRoles with permissions that they do not have',
  },
]
const maxNamed = 10

/** Returns notes on subjects that can escalate or impersonate cluster-wide. */
function escalationNotes(reader: Reader): readonly string[] {
  return escalations.flatMap(({ verb, group, resource, text }) => {
    const place = { subresource: '', name: '', namespace: '' }
    const keys = [...subjectsWith(reader, { isResource: true, verb, group, resource, ...place }).keys()]
    const others = keys.filter(key => key !== superusers).sort()
    if (others.length === 0) return []
    const rest = others.length > maxNamed ? ` and ${others.length - maxNamed} more` : ''
    return [`these subjects ${text}: ${others.slice(0, maxNamed).join(', ')}${rest}`]
  })
}

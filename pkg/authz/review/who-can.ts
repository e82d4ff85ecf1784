import { splitServiceAccount } from '../../apirequest/identity/identity.ts'
import type { Binding, RbacReader } from '../rbac/rbac-index.ts'
import { appliesTo, createRuleFinder, type Grant, toGrant } from './grant.ts'
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
    .map(([key, subjectGrants]) => ({ ...toSubject(key), grants: subjectGrants }))
  return { subjects, notes: [superuserNote, ...escalationNotes(reader, attributes)] }
}

const superuserNote = 'kube-apiserver allows the group "system:masters" everything, without a binding'

function subjectsWith(reader: Reader, attributes: AccessAttributes): Map<string, Grant[]> {
  const findRule = createRuleFinder(reader, attributes)
  const grants = new Map<string, Grant[]>()
  for (const binding of bindingsFor(reader, attributes)) {
    const rule = appliesTo(binding, attributes) ? findRule(binding.role) : undefined
    if (rule === undefined) continue
    const grant = toGrant(binding, rule)
    for (const key of new Set(binding.subjects)) {
      const subjectGrants = grants.get(key) ?? []
      subjectGrants.push(grant)
      grants.set(key, subjectGrants)
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

type Escalation = {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  /** Set for namespaced resources: a RoleBinding grants the permission too. */
  readonly isNamespaced?: true
  readonly text: string
}

const rbacGroup = 'rbac.authorization.k8s.io'
const withMore = 'with permissions that they do not have'
const escalations: readonly Escalation[] = [
  { verb: 'impersonate', group: '', resource: 'users', text: 'may impersonate users' },
  { verb: 'impersonate', group: '', resource: 'groups', text: 'may impersonate groups' },
  {
    ...{ verb: 'impersonate', group: '', resource: 'serviceaccounts', isNamespaced: true },
    text: 'may impersonate service accounts',
  },
  {
    ...{ verb: 'create', group: '', resource: 'serviceaccounts', subresource: 'token', isNamespaced: true },
    text: 'may create tokens of service accounts',
  },
  {
    verb: 'escalate',
    group: rbacGroup,
    resource: 'clusterroles',
    text: `may write ClusterRoles ${withMore}`,
  },
  { verb: 'bind', group: rbacGroup, resource: 'clusterroles', text: `may bind ClusterRoles ${withMore}` },
  {
    ...{ verb: 'escalate', group: rbacGroup, resource: 'roles', isNamespaced: true },
    text: `may write Roles ${withMore}`,
  },
  {
    ...{ verb: 'bind', group: rbacGroup, resource: 'roles', isNamespaced: true },
    text: `may bind Roles ${withMore}`,
  },
]
const maxNamed = 10

/**
 * Returns notes on subjects that can escalate or impersonate: in the whole cluster, and in the
 * namespace of the request.
 */
function escalationNotes(reader: Reader, attributes: AccessAttributes): readonly string[] {
  const inside = attributes.isResource ? attributes.namespace : ''
  return escalations.flatMap(({ verb, group, resource, subresource = '', isNamespaced, text }) => {
    const place = { subresource, name: '', namespace: isNamespaced ? inside : '' }
    const keys = [...subjectsWith(reader, { isResource: true, verb, group, resource, ...place }).keys()]
    const others = keys.filter(key => key !== superusers).sort()
    if (others.length === 0) return []
    const rest = others.length > maxNamed ? ` and ${others.length - maxNamed} more` : ''
    const where = place.namespace === '' ? '' : ` in the namespace ${JSON.stringify(inside)}`
    return [`these subjects ${text}${where}: ${others.slice(0, maxNamed).join(', ')}${rest}`]
  })
}

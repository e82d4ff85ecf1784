import { Status } from '../../../pkg/apierrors/status.ts'
import { iamVersion, isPasswordHash, toCredential, usersPath } from '../../../pkg/iam/users/user.ts'
import { linkAnnotation, readLinks } from '../../../pkg/iam/users/user-link.ts'
import { groupProblem } from '../../../pkg/iam/users/user-validation.ts'
import type { KubeClient } from '../../../pkg/kubeclient/client.ts'
import { isRecord, type KubeObject, parseObject } from '../../../pkg/kubeclient/object.ts'
import { commandLine } from '../../../pkg/shell/command-line.ts'

/** The migration of one user. */
export type Step = {
  readonly name: string
  readonly action: 'create' | 'unchanged' | 'differs' | 'refused'
  /** The reasons why something is not migrated. */
  readonly remarks: readonly string[]
  readonly object?: Readonly<Record<string, unknown>>
  readonly isDisabled: boolean
}

export type Domains = { readonly from: string; readonly to: string }

type Members = ReadonlyMap<string, readonly string[]>

/**
 * Lists the users of KubeSphere with their groups and roles.
 *
 * @throws Status if they cannot be read
 */
export async function planUsers(client: KubeClient, domains: Domains): Promise<readonly Step[]> {
  const [users, there, groups, roles] = await Promise.all([
    list(client, usersPath(domains.from)),
    list(client, usersPath(domains.to)),
    list(client, pathOf(domains.from, 'groupbindings')).then(items => membersOf(items, toGroupMembers)),
    list(client, pathOf(domains.from, 'globalrolebindings')).then(items => membersOf(items, toRoleMembers)),
  ])
  const existing = new Map(there.map(object => [object.metadata.name, object]))
  return users.map(user => {
    const name = user.metadata.name
    const step = toStep(user, groups.get(name) ?? [], roles.get(name) ?? [], domains)
    const old = existing.get(name)
    if (old === undefined || step.object === undefined) return step
    const isEqual = canonical(comparable(old.spec)) === canonical(comparable(step.object.spec))
    // An interrupted run may have created the user without disabling it, so that they can log in.
    const isOpen = step.isDisabled && !(isRecord(old.status) && old.status.state === 'Disabled')
    const remarks = isOpen ? [...step.remarks, 'was disabled, and is not here'] : step.remarks
    return { ...step, remarks, action: isEqual && !isOpen ? ('unchanged' as const) : ('differs' as const) }
  })
}

/** Creates the planned users. Existing ones are not changed. */
export async function createUsers(
  client: KubeClient,
  steps: readonly Step[],
  to: string,
): Promise<readonly Step[]> {
  const done: Step[] = []
  for (const step of steps) {
    done.push(step.action === 'create' ? await createUser(client, step, to) : step)
  }
  return done
}

async function createUser(client: KubeClient, step: Step, to: string): Promise<Step> {
  const path = usersPath(to)
  const refused = (error: unknown, before = ''): Step => {
    if (!(error instanceof Status) || error.code >= 500) throw error
    return { ...step, action: 'refused', remarks: [...step.remarks, before + error.message] }
  }
  try {
    await client.call({ method: 'POST', path, body: step.object })
  } catch (error) {
    return refused(error)
  }
  if (!step.isDisabled) return step
  try {
    const body = { status: { state: 'Disabled', reason: 'disabled before the migration' } }
    const contentType = 'application/merge-patch+json'
    const status = `${path}/${encodeURIComponent(step.name)}/status`
    await client.call({ method: 'PATCH', path: status, body, contentType })
    return step
  } catch (error) {
    return refused(error, 'created, but failed to disable it: ')
  }
}

function toStep(
  user: KubeObject,
  groups: readonly string[],
  roles: readonly string[],
  { from, to }: Domains,
): Step {
  const { name, annotations = {} } = user.metadata
  const {
    email,
    displayName,
    lang,
    description,
    password,
    groups: own,
  } = isRecord(user.spec) ? user.spec : {}
  const remarks: string[] = []
  const all = [...new Set([...texts(own), ...groups])].sort()
  const reserved = all.filter(group => groupProblem(group) !== undefined)
  if (reserved.length > 0)
    remarks.push(`not in ${reserved.join(', ')}: reserved for Kubernetes, or not a valid group name`)
  for (const role of roles) remarks.push(`has the global role ${role}: give its rights by RBAC`)
  const links = readLinks(user.metadata, from)
  const isHashed = typeof password === 'string' && isPasswordHash(password)
  if (!isHashed && links.length === 0)
    remarks.push(
      `has no password that Kapis can check: set one with ${commandLine('kapis', 'user', 'set-password', name)}`,
    )
  const uninitialized = annotations[`iam.${from}/uninitialized`] === 'true'
  const linked = links.map(({ provider, uid }) => [linkAnnotation(to, provider), uid])
  const marked = {
    ...Object.fromEntries(linked),
    ...(uninitialized ? { [`iam.${to}/uninitialized`]: 'true' } : {}),
  }
  const isDisabled =
    isRecord(user.status) && user.status.state === 'Disabled' && (isHashed || links.length > 0)
  if (typeof email !== 'string' || email === '') {
    return {
      name,
      action: 'refused',
      remarks: [...remarks, 'has no e-mail address, which Kapis wants'],
      isDisabled,
    }
  }
  const spec = {
    email,
    ...(typeof displayName === 'string' && displayName !== '' ? { displayName } : {}),
    ...(typeof lang === 'string' && lang !== '' ? { lang } : {}),
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    ...(all.length > reserved.length ? { groups: all.filter(group => !reserved.includes(group)) } : {}),
    ...(isHashed ? { password } : {}),
  }
  const metadata = { name, ...(Object.keys(marked).length > 0 ? { annotations: marked } : {}) }
  const object = { apiVersion: `iam.${to}/${iamVersion}`, kind: 'User', metadata, spec }
  return { name, action: 'create', remarks, object, isDisabled }
}

function toGroupMembers(binding: KubeObject): readonly (readonly [string, string])[] {
  const { groupRef, users } = binding
  const group = isRecord(groupRef) ? groupRef.name : undefined
  return typeof group === 'string' ? texts(users).map(user => [user, group] as const) : []
}

function toRoleMembers(binding: KubeObject): readonly (readonly [string, string])[] {
  const { roleRef, subjects } = binding
  const role = isRecord(roleRef) ? roleRef.name : undefined
  if (typeof role !== 'string' || !Array.isArray(subjects)) return []
  return subjects
    .filter(isRecord)
    .filter(({ kind }) => kind === 'User')
    .map(({ name }) => [String(name), role] as const)
}

function membersOf(
  items: readonly KubeObject[],
  pairs: (item: KubeObject) => readonly (readonly [string, string])[],
): Members {
  const members = new Map<string, string[]>()
  for (const [user, what] of items.flatMap(pairs)) members.set(user, [...(members.get(user) ?? []), what])
  return members
}

/** Pages of a list; none where the resource does not exist. */
export async function list(client: KubeClient, path: string): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = []
  let next = ''
  do {
    let page: unknown
    try {
      page = await client.call({
        path: `${path}?limit=500${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`,
      })
    } catch (error) {
      if (error instanceof Status && error.code === 404) return found
      throw error
    }
    if (!isRecord(page) || !Array.isArray(page.items)) throw new Error(`${path} is not a list`)
    found.push(...page.items.map(parseObject))
    next = isRecord(page.metadata) && typeof page.metadata.continue === 'string' ? page.metadata.continue : ''
  } while (next !== '')
  return found
}

function pathOf(domain: string, plural: string): string {
  return `/apis/iam.${domain}/${iamVersion}/${plural}`
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

/** A spec with the fingerprint of its hash: Kapis has moved the hash of a user who is there. */
function comparable(spec: unknown): unknown {
  const { password, credentialNamespace: _place, ...rest } = isRecord(spec) ? spec : {}
  return typeof password === 'string' ? { ...rest, credential: toCredential(password) } : rest
}

/** A canonical text: equal values have the same, whatever the order of their fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    isRecord(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

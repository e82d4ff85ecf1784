import { Status } from '../../../pkg/apierrors/status.ts'
import { iamVersion, isPasswordHash, toCredential, usersPath } from '../../../pkg/iam/users/user.ts'
import { linkAnnotation, readLinks } from '../../../pkg/iam/users/user-link.ts'
import { groupProblem } from '../../../pkg/iam/users/user-validation.ts'
import { type KubeClient, mergePatch } from '../../../pkg/kubeclient/client.ts'
import { isRecord, type KubeObject } from '../../../pkg/kubeclient/object/object.ts'
import { commandLine } from '../../../pkg/shell/command-line.ts'
import { list } from './list-pages.ts'

export type Step = {
  readonly name: string
  readonly action: 'create' | 'unchanged' | 'differs' | 'refused' | 'kept'
  /** Reasons why parts of the user are not migrated. */
  readonly remarks: readonly string[]
  readonly object?: Readonly<Record<string, unknown>>
  readonly isDisabled: boolean
}

export type Domains = { readonly from: string; readonly to: string }

type Members = ReadonlyMap<string, readonly string[]>

/** Lists the users of KubeSphere with groups and roles. @throws Status if they cannot be read */
export async function planUsers(client: KubeClient, domains: Domains): Promise<readonly Step[]> {
  const unread: Step[] = []
  const reportUnreadable = (what: string) => (name: string) => {
    const remarks = [`${what}cannot be read: it is not an object with name, uid and resourceVersion`]
    unread.push({ name, action: 'refused', remarks, isDisabled: false })
  }
  const { from, to } = domains
  const isInPlace = from === to
  const [users, existing, groups, roles] = await Promise.all([
    list(client, usersPath(from), reportUnreadable('')),
    isInPlace ? [] : list(client, usersPath(to), () => undefined),
    list(client, pathOf(from, 'groupbindings'), reportUnreadable('GroupBinding ')),
    list(client, pathOf(from, 'globalrolebindings'), reportUnreadable('GlobalRoleBinding ')),
  ])
  const steps = toSteps(users, { existing, groups, roles }, domains)
  const kept = (step: Step) => (step.action === 'create' ? { ...step, action: 'kept' as const } : step)
  return [...(isInPlace ? steps.map(kept) : steps), ...unread]
}

type ExistingObjects = {
  readonly existing: readonly KubeObject[]
  readonly groups: readonly KubeObject[]
  readonly roles: readonly KubeObject[]
}

function toSteps(users: readonly KubeObject[], found: ExistingObjects, domains: Domains): readonly Step[] {
  const existing = new Map(found.existing.map(object => [object.metadata.name, object]))
  const [groups, roles] = [membersOf(found.groups, toGroupMembers), membersOf(found.roles, toRoleMembers)]
  return users.map(user => {
    const name = user.metadata.name
    const step = toStep(user, groups.get(name) ?? [], roles.get(name) ?? [], domains)
    const old = existing.get(name)
    if (old === undefined || step.object === undefined) return step
    const isEqual = canonical(comparable(old.spec)) === canonical(comparable(step.object.spec))
    // An interrupted run may have created the user without disabling it, so the user could log in.
    const isOpen = step.isDisabled && !(isRecord(old.status) && old.status.state === 'Disabled')
    const remarks = isOpen ? [...step.remarks, 'was disabled, and does not exist here'] : step.remarks
    return { ...step, remarks, action: isEqual && !isOpen ? ('unchanged' as const) : ('differs' as const) }
  })
}

// A single object may fail (a webhook, a limit), but several consecutive failures mean that
// kube-apiserver is not responding.
const maxFailures = 3

/**
 * Creates the planned users. Existing users are not changed. A failure does not stop the migration,
 * but several consecutive failures of kube-apiserver do.
 */
export async function createUsers(
  client: KubeClient,
  steps: readonly Step[],
  to: string,
): Promise<readonly Step[]> {
  const done: Step[] = []
  let failures = 0
  for (const step of steps) {
    if (step.action !== 'create') done.push(step)
    else if (failures >= maxFailures)
      done.push({
        ...step,
        action: 'refused',
        remarks: [...step.remarks, 'not tried: kube-apiserver is not responding'],
      })
    else {
      const { isServerFailure, ...made } = await createUser(client, step, to)
      failures = isServerFailure ? failures + 1 : 0
      done.push(made)
    }
  }
  return done
}

type StepResult = Step & { readonly isServerFailure: boolean }

async function createUser(client: KubeClient, step: Step, to: string): Promise<StepResult> {
  const path = usersPath(to)
  const rejected = (error: unknown, before = ''): StepResult => {
    const isServerFailure = !(error instanceof Status) || error.code >= 500
    const message = error instanceof Error ? error.message : String(error)
    return { ...step, action: 'refused', remarks: [...step.remarks, before + message], isServerFailure }
  }
  const made = { ...step, isServerFailure: false }
  try {
    await client.call({ method: 'POST', path, body: step.object })
  } catch (error) {
    return rejected(error)
  }
  if (!step.isDisabled) return made
  try {
    const body = { status: { state: 'Disabled', reason: 'disabled before the migration' } }
    await client.call(mergePatch(`${path}/${encodeURIComponent(step.name)}/status`, body))
    return made
  } catch (error) {
    return rejected(error, 'created, but failed to disable it: ')
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
    credential,
    groups: own,
  } = isRecord(user.spec) ? user.spec : {}
  const remarks: string[] = []
  const all = [...new Set([...texts(own), ...groups])].sort()
  const reserved = all.filter(group => groupProblem(group) !== undefined)
  if (reserved.length > 0)
    remarks.push(`not in ${reserved.join(', ')}: reserved for Kubernetes, or not a valid group name`)
  for (const role of roles) remarks.push(`has the global role ${role}: grant its permissions by RBAC`)
  const links = readLinks(user.metadata, from)
  const isHashed = typeof password === 'string' && isPasswordHash(password)
  // Kapis with the group domain of KubeSphere may have moved the hash into a Secret.
  const hasPassword = isHashed || (from === to && credential !== undefined)
  if (!hasPassword && links.length === 0)
    remarks.push(
      `has no password that Kapis can check: set one with ${commandLine('kapis', 'user', 'set-password', name)}`,
    )
  remarks.push(...lostMetadata(user, { from, to }))
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
      remarks: [...remarks, 'has no e-mail address, which Kapis requires'],
      isDisabled,
    }
  }
  const spec = {
    email,
    ...filled({ displayName, lang, description }),
    ...(all.length > reserved.length ? { groups: all.filter(group => !reserved.includes(group)) } : {}),
    ...(isHashed ? { password } : {}),
  }
  const metadata = { name, ...(Object.keys(marked).length > 0 ? { annotations: marked } : {}) }
  const object = { apiVersion: `iam.${to}/${iamVersion}`, kind: 'User', metadata, spec }
  return { name, action: 'create', remarks, object, isDisabled }
}

/** Returns the items that are strings, without empty ones. */
function filled(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => typeof value === 'string' && value !== ''),
  )
}

/** Returns a remark on labels and annotations that users have written themselves. */
function lostMetadata(
  { metadata: { labels = {}, annotations = {} } }: KubeObject,
  { from, to }: Domains,
): readonly string[] {
  if (from === to) return []
  const keys = [labels, annotations].flatMap(Object.keys).filter(key => !isOfPlatform(key, from))
  return keys.length === 0 ? [] : [`without its labels and annotations ${keys.join(', ')}`]
}

/** Reports whether KubeSphere, Kubernetes or their tools have written a label or annotation. */
function isOfPlatform(key: string, from: string): boolean {
  const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : ''
  return [from, 'kubernetes.io', 'k8s.io', 'kubefed.io', 'helm.sh'].some(
    domain => prefix === domain || prefix.endsWith(`.${domain}`),
  )
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

function pathOf(domain: string, plural: string): string {
  return `/apis/iam.${domain}/${iamVersion}/${plural}`
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

/**
 * Returns the spec with a fingerprint instead of the hash, for comparison with an existing user:
 * Kapis has moved its hash into a Secret.
 */
function comparable(spec: unknown): unknown {
  const { password, credentialNamespace: _place, ...rest } = isRecord(spec) ? spec : {}
  return typeof password === 'string' ? { ...rest, credential: toCredential(password) } : rest
}

/** Returns the same text for equal values, regardless of the order of their fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    isRecord(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

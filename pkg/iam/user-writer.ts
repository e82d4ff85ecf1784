import type { KubeClient } from '../kube/client.ts'
import { lastAppliedAnnotation, withoutLastApplied } from '../kube/last-applied.ts'
import { isRecord, type KubeObject, parseObject } from '../kube/object.ts'
import { notFound, Status } from '../status/status.ts'
import { toMetaTime } from './lock-keeper.ts'
import type { PasswordHasher } from './password.ts'
import { iamVersion, isPasswordHash, type User, type UserState, usersPath } from './user.ts'
import { invalidUser, type UserDraft } from './user-draft.ts'
import { rightsToChange, rightsToCreate, rightsToSetPassword, type UserRights } from './user-rights.ts'
import { problemAt } from './user-rules.ts'

export type UserWriterOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly hasher: PasswordHasher
  readonly users: { readonly find: (login: string) => User | undefined }
}

/**
 * Asks whether the caller has the rights that a change takes. It is called for each attempt, with what that attempt changes, and
 * before anything is written.
 *
 * @throws Status 403, 503
 */
export type Permit = (name: string, rights: UserRights) => Promise<void>

export type WriteOptions = { readonly isDryRun: boolean; readonly permit: Permit }

/**
 * Writes users as Kapis itself: RBAC has allowed the caller to write users before, and `permit` decides about what else a
 * change takes. What comes back holds no password hash.
 */
export type UserWriter = {
  readonly read: (name: string) => Promise<KubeObject>
  readonly create: (draft: UserDraft, options: WriteOptions) => Promise<KubeObject>
  /** Replaces what was read: 409 when the draft names another resource version than the stored one. */
  readonly update: (draft: UserDraft, options: WriteOptions) => Promise<KubeObject>
  readonly setState: (name: string, state: UserState, reason: string) => Promise<KubeObject>
  /** @param permit undefined for the user's own, chosen with the current one: it is no longer one that was given */
  readonly setPassword: (name: string, password: string, permit: Permit | undefined) => Promise<void>
  readonly remove: (name: string, options: Pick<WriteOptions, 'isDryRun'>) => Promise<void>
}

const attempts = 5
const mergePatch = 'application/merge-patch+json'

export function createUserWriter({ client, groupDomain, hasher, users }: UserWriterOptions): UserWriter {
  const resource = { group: `iam.${groupDomain}`, resource: 'users' }
  const changedAt = `iam.${groupDomain}/last-password-change-time`
  const uninitialized = `iam.${groupDomain}/uninitialized`
  const pathOf = (name: string) => `${usersPath(groupDomain)}/${encodeURIComponent(name)}`
  const dryRun = ({ isDryRun }: Pick<WriteOptions, 'isDryRun'>) => (isDryRun ? '?dryRun=All' : '')

  async function stored(name: string): Promise<KubeObject> {
    try {
      return parseObject(await client.call({ path: pathOf(name) }))
    } catch (error) {
      throw error instanceof Status && error.code === 404 ? notFound(resource, name) : error
    }
  }

  /** An address may be used to log in: it has one owner. Of two who take it in the same moment the older one has it. */
  function requireFreeEmail({ name, spec }: UserDraft): void {
    const holder = users.find(String(spec.email))
    if (holder === undefined || holder.name === name) return
    throw invalidUser(groupDomain, name, problemAt('spec.email', 'is the address of another user'))
  }

  /** As kube-apiserver words it. */
  function conflict(name: string): Status {
    const { group, resource: kind } = resource
    const what = `${kind}.${group} ${JSON.stringify(name)}`
    const why = 'the object has been modified; please apply your changes to the latest version and try again'
    const details = { name, group, kind }
    return new Status(409, 'Conflict', `Operation cannot be fulfilled on ${what}: ${why}`, { details })
  }

  async function toHash(password: string): Promise<string> {
    return isPasswordHash(password) ? password : hasher.hash(password)
  }

  function toBody(
    draft: UserDraft,
    annotations: Readonly<Record<string, string>>,
    password: unknown,
  ): object {
    const { name, labels, spec } = draft
    return {
      apiVersion: `iam.${groupDomain}/${iamVersion}`,
      kind: 'User',
      metadata: { name, labels, annotations },
      spec: { ...spec, ...(password === undefined ? {} : { password }) },
    }
  }

  async function putState(user: KubeObject, state: UserState, reason: string): Promise<KubeObject> {
    const current = isRecord(user.status) ? user.status : {}
    const changed = { state, reason, lastTransitionTime: toMetaTime(Date.now()) }
    const body = { metadata: { resourceVersion: user.metadata.resourceVersion }, status: changed }
    if (current.state === state) return user
    const path = `${pathOf(user.metadata.name)}/status`
    return parseObject(await client.call({ method: 'PATCH', path, contentType: mergePatch, body }))
  }

  /** A write that names no version of its own is tried again when somebody else was faster. */
  async function again<T>(write: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write()
      } catch (error) {
        const isConflict = error instanceof Status && error.code === 409
        if (!isConflict || attempt === attempts) throw error
      }
    }
  }

  async function replace(draft: UserDraft, options: WriteOptions): Promise<KubeObject> {
    const before = await stored(draft.name)
    // The rights are asked for the version that is replaced, and for no other.
    const { resourceVersion } = before.metadata
    if (draft.resourceVersion !== '' && draft.resourceVersion !== resourceVersion) throw conflict(draft.name)
    await options.permit(draft.name, rightsToChange(before, draft, groupDomain))
    requireFreeEmail(draft)
    const known = isRecord(before.spec) ? before.spec.password : undefined
    const password = draft.password === undefined ? known : await toHash(draft.password)
    const changed = password === known ? before.metadata.annotations?.[changedAt] : toMetaTime(Date.now())
    const times = changed === undefined ? {} : { [changedAt]: changed }
    // Nobody is shown it, so nobody can send it back; without it `kubectl apply` could not tell what was taken away.
    const applied = before.metadata.annotations?.[lastAppliedAnnotation]
    const kept = applied === undefined ? {} : { [lastAppliedAnnotation]: applied }
    const body = toBody(draft, { ...kept, ...draft.annotations, ...times }, password)
    const metadata = {
      ...before.metadata,
      ...('metadata' in body && isRecord(body.metadata) ? body.metadata : {}),
      resourceVersion,
      managedFields: undefined,
    }
    const call = {
      method: 'PUT',
      path: `${pathOf(draft.name)}${dryRun(options)}`,
      body: { ...body, metadata },
    } as const
    return parseObject(await client.call(call))
  }

  return {
    read: async name => withoutHash(await stored(name)),
    async create(draft, options) {
      await options.permit(draft.name, rightsToCreate(draft))
      requireFreeEmail(draft)
      const password = draft.password === undefined ? undefined : await toHash(draft.password)
      const times = password === undefined ? {} : { [changedAt]: toMetaTime(Date.now()) }
      const body = toBody(draft, { ...times, ...draft.annotations }, password)
      const path = `${usersPath(groupDomain)}${dryRun(options)}`
      const answer = await client.call({ method: 'POST', path, body })
      if (options.isDryRun) return withoutHash(parseTried(answer))
      return withoutHash(await putState(parseObject(answer), draft.state ?? 'Active', ''))
    },
    async update(draft, options) {
      const write = () => replace(draft, options)
      const written = await (draft.resourceVersion === '' ? again(write) : write())
      if (options.isDryRun || draft.state === undefined) return withoutHash(written)
      return withoutHash(await putState(written, draft.state, ''))
    },
    setState: (name, state, reason) =>
      again(async () => withoutHash(await putState(await stored(name), state, reason))),
    setPassword(name, password, permit) {
      let hash: string | undefined
      return again(async () => {
        const before = await stored(name)
        await permit?.(name, rightsToSetPassword(before))
        hash ??= await toHash(password)
        const isOwn = permit === undefined
        const annotations = {
          [changedAt]: toMetaTime(Date.now()),
          ...(isOwn ? { [uninitialized]: null } : {}),
        }
        const { uid, resourceVersion } = before.metadata
        const body = { metadata: { uid, resourceVersion, annotations }, spec: { password: hash } }
        await client.call({ method: 'PATCH', path: pathOf(name), contentType: mergePatch, body })
      })
    },
    async remove(name, options) {
      await stored(name)
      await client.call({ method: 'DELETE', path: `${pathOf(name)}${dryRun(options)}` })
    },
  }
}

/** What would have been made: kube-apiserver gives it no version. */
function parseTried(answer: unknown): KubeObject {
  if (!isRecord(answer) || !isRecord(answer.metadata)) return parseObject(answer)
  return parseObject({ ...answer, metadata: { resourceVersion: '', ...answer.metadata } })
}

/** Password hashes are for whoever checks passwords alone. */
function withoutHash(user: KubeObject): KubeObject {
  const { password: _password, ...spec } = isRecord(user.spec) ? user.spec : {}
  const { managedFields: _managedFields, ...metadata } = user.metadata
  return { ...user, metadata: withoutLastApplied(metadata), spec }
}

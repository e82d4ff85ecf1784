import { notFound, orUndefined, Status } from '../../apierrors/status.ts'
import { type KubeClient, mergePatch } from '../../kubeclient/client.ts'
import { lastAppliedAnnotation, withoutLastApplied } from '../../kubeclient/object/last-applied.ts'
import { isRecord, type KubeObject, parseObject } from '../../kubeclient/object/object.ts'
import { retryOnConflict } from '../../kubeclient/retry.ts'
import { toMetaTime } from '../lockout/lockout-reconciler.ts'
import type { PasswordHasher } from '../passwords/password.ts'
import type { PasswordStore } from '../passwords/password-store.ts'
import { createPasswordWriter } from '../passwords/password-writer.ts'
import {
  permissionsToChange,
  permissionsToCreate,
  permissionsToSetPassword,
  type UserPermissions,
} from './required-permissions.ts'
import {
  iamVersion,
  isPasswordHash,
  ownEmailAnnotation,
  toUser,
  type User,
  type UserState,
  userPath,
  usersPath,
} from './user.ts'
import { invalidUser, type UserDraft } from './user-draft.ts'
import { problemAt } from './user-validation.ts'

export type UserWriterOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly hasher: PasswordHasher
  readonly store: Pick<PasswordStore, 'keep' | 'referenceTo'>
  readonly users: { readonly find: (login: string) => User | undefined }
}

/** Checks permissions for a change, before each attempt to write. @throws Status 403, 503 */
export type RequirePermissions = (name: string, permissions: UserPermissions) => Promise<void>

export type WriteOptions = { readonly isDryRun: boolean; readonly permit: RequirePermissions }

/**
 * Writes users with the permissions of Kapis itself, after RBAC has authorized the caller to write
 * users and `permit` has checked additional permissions. Results contain no password.
 */
export type UserWriter = {
  readonly read: (name: string) => Promise<KubeObject>
  readonly create: (draft: UserDraft, options: WriteOptions) => Promise<KubeObject>
  /** Replaces the stored user; 409 if the draft has another resourceVersion. */
  readonly update: (draft: UserDraft, options: WriteOptions) => Promise<KubeObject>
  readonly setState: (
    name: string,
    state: UserState,
    how: Pick<WriteOptions, 'isDryRun'> & { readonly reason: string },
  ) => Promise<KubeObject>
  /**
   * @param password plain text. Only `create` and `update` accept hashes, from callers who could
   * log in as the user anyway.
   * @param how `permit` is undefined if users change their own password, which then no longer
   * counts as set by an administrator
   */
  readonly setPassword: (
    name: string,
    password: string,
    how: Pick<WriteOptions, 'isDryRun'> & { readonly permit: RequirePermissions | undefined },
  ) => Promise<void>
  /** Deletes a user. @param how metav1.DeleteOptions @throws Status 404, 409, 422 */
  readonly remove: (
    name: string,
    how: Pick<WriteOptions, 'isDryRun'> & { readonly options: Readonly<Record<string, unknown>> },
  ) => Promise<void>
}

const kept = { reason: '', isDryRun: false }

export function createUserWriter({
  client,
  groupDomain,
  hasher,
  store,
  users,
}: UserWriterOptions): UserWriter {
  const writePassword = createPasswordWriter({ client, groupDomain, store })
  const resource = { group: `iam.${groupDomain}`, resource: 'users' }
  const changedAt = `iam.${groupDomain}/last-password-change-time`
  const uninitialized = `iam.${groupDomain}/uninitialized`
  const pathOf = (name: string) => userPath(groupDomain, name)
  const dryRun = ({ isDryRun }: Pick<WriteOptions, 'isDryRun'>) => (isDryRun ? '?dryRun=All' : '')

  async function readStored(name: string): Promise<KubeObject> {
    const object = await orUndefined(client.call({ path: pathOf(name) }), 404)
    if (object === undefined) throw notFound(resource, name)
    return parseObject(object)
  }

  /**
   * Rejects the e-mail address of another user, since addresses can be used to log in. If two users
   * set it concurrently, the older user keeps it. An unverified address of another user does not
   * prevent an administrator from assigning it.
   */
  function requireFreeEmail({ name, spec, annotations }: UserDraft, before?: KubeObject): void {
    const isClaim = annotations[ownEmailAnnotation(resource.group)] === spec.email
    // Removing the annotation verifies an unchanged address, so it is checked too.
    const isKept = before !== undefined && isRecord(before.spec) && before.spec.email === spec.email
    if (isKept && toUser(before).isEmailVerified !== isClaim) return
    const holder = users.find(String(spec.email))
    if (holder === undefined || holder.name === name) return
    if (!holder.isEmailVerified && !isClaim) return
    throw invalidUser(groupDomain, name, problemAt('spec.email', 'belongs to another user'))
  }

  /** Returns a 409 in the words of kube-apiserver. */
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

  function toBody(draft: UserDraft, annotations: Readonly<Record<string, string>>, secrets: object): object {
    const { name, labels, spec } = draft
    return {
      apiVersion: `iam.${groupDomain}/${iamVersion}`,
      kind: 'User',
      metadata: { name, labels, annotations },
      spec: { ...spec, ...secrets },
    }
  }

  async function putState(
    user: KubeObject,
    state: UserState,
    { reason, isDryRun }: { readonly reason: string; readonly isDryRun: boolean },
  ): Promise<KubeObject> {
    const current = isRecord(user.status) ? user.status : {}
    const changed = { state, reason, lastTransitionTime: toMetaTime(Date.now()) }
    const body = { metadata: { resourceVersion: user.metadata.resourceVersion }, status: changed }
    if (current.state === state) return user
    const path = `${pathOf(user.metadata.name)}/status${dryRun({ isDryRun })}`
    return parseObject(await client.call(mergePatch(path, body)))
  }

  async function replace(draft: UserDraft, options: WriteOptions): Promise<KubeObject> {
    const before = await readStored(draft.name)
    // The write requires this version: it is the version that the permissions were checked for.
    const { resourceVersion } = before.metadata
    if (draft.resourceVersion !== '' && draft.resourceVersion !== resourceVersion) throw conflict(draft.name)
    await options.permit(draft.name, permissionsToChange(before, draft, groupDomain))
    requireFreeEmail(draft, before)
    // Callers do not see hidden annotations and cannot send them back, so they are kept. Without
    // last-applied-configuration, `kubectl apply` could not detect removed fields.
    const secrets = Object.entries(isRecord(before.spec) ? before.spec : {}).filter(([key]) => isSecret(key))
    const { [changedAt]: changed, [lastAppliedAnnotation]: applied } = before.metadata.annotations ?? {}
    const body = toBody(
      draft,
      {
        ...(applied === undefined ? {} : { [lastAppliedAnnotation]: applied }),
        ...draft.annotations,
        ...(changed === undefined ? {} : { [changedAt]: changed }),
      },
      Object.fromEntries(secrets),
    )
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

  function putPassword(
    name: string,
    password: string,
    {
      permit,
      annotations = {},
      isDryRun = false,
      hashOf = hasher.hash,
    }: {
      permit?: RequirePermissions
      annotations?: Readonly<Record<string, null>>
      isDryRun?: boolean
      hashOf?: PasswordHasher['hash']
    },
  ): Promise<KubeObject> {
    let hash: string | undefined
    return retryOnConflict(async () => {
      const before = await readStored(name)
      await permit?.(name, permissionsToSetPassword(before))
      if (isDryRun) return before
      hash ??= await hashOf(password)
      return writePassword(toUser(before), hash, { [changedAt]: toMetaTime(Date.now()), ...annotations })
    })
  }

  /** Stores the password of a new user; deletes the user again if that fails. */
  async function keepOrUndo({ metadata: { name, uid } }: KubeObject, hash: string): Promise<void> {
    try {
      await store.keep({ name, uid, credential: '' }, hash)
    } catch (error) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } }
      await client.call({ method: 'DELETE', path: pathOf(name), body }).catch(() => undefined)
      throw error
    }
  }

  return {
    read: async name => withoutSecrets(await readStored(name)),
    async create(draft, options) {
      await options.permit(draft.name, permissionsToCreate(draft, groupDomain))
      requireFreeEmail(draft)
      const hash = draft.password === undefined ? undefined : await toHash(draft.password)
      const times = hash === undefined ? {} : { [changedAt]: toMetaTime(Date.now()) }
      const reference = hash === undefined ? {} : store.referenceTo(hash)
      const body = toBody(draft, { ...times, ...draft.annotations }, reference)
      const path = `${usersPath(groupDomain)}${dryRun(options)}`
      const response = await client.call({ method: 'POST', path, body })
      if (options.isDryRun) return withoutSecrets(parseTried(response))
      const made = parseObject(response)
      if (hash !== undefined) await keepOrUndo(made, hash)
      return withoutSecrets(await putState(made, draft.state ?? 'Active', kept))
    },
    async update(draft, options) {
      const { password, state } = draft
      const write = () => replace(draft, options)
      const written = await (draft.resourceVersion === '' ? retryOnConflict(write) : write())
      if (options.isDryRun) return withoutSecrets(written)
      const { permit } = options
      const changed =
        password === undefined ? written : await putPassword(draft.name, password, { permit, hashOf: toHash })
      return withoutSecrets(state === undefined ? changed : await putState(changed, state, kept))
    },
    setState: (name, state, how) =>
      retryOnConflict(async () => withoutSecrets(await putState(await readStored(name), state, how))),
    async setPassword(name, password, { permit, isDryRun }) {
      const how = permit === undefined ? { annotations: { [uninitialized]: null } } : { permit }
      await putPassword(name, password, { ...how, isDryRun })
    },
    async remove(name, { isDryRun, options }) {
      await readStored(name)
      // kube-apiserver ignores query parameters of a DELETE with a body.
      const tried = isDryRun ? { dryRun: ['All'] } : {}
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options, ...tried }
      await client.call({ method: 'DELETE', path: pathOf(name), body })
    },
  }
}

/** Parses the result of a dry run, which has no resourceVersion. */
function parseTried(response: unknown): KubeObject {
  if (!isRecord(response) || !isRecord(response.metadata)) return parseObject(response)
  return parseObject({ ...response, metadata: { resourceVersion: '', ...response.metadata } })
}

// Hashes and references to hashes are only for password checks.
const secretMembers: readonly string[] = ['password', 'credential', 'credentialNamespace']

function isSecret(member: string): boolean {
  return secretMembers.includes(member)
}

function withoutSecrets(user: KubeObject): KubeObject {
  const members = Object.entries(isRecord(user.spec) ? user.spec : {})
  const { managedFields: _managedFields, ...metadata } = user.metadata
  const spec = Object.fromEntries(members.filter(([key]) => !isSecret(key)))
  return { ...user, metadata: withoutLastApplied(metadata), spec }
}

import { isStatus, methodNotAllowed, notFound, Status, toStatus } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { sendJson, sendJsonText } from '../../../../httpserver/response/respond.ts'
import { type User, userPath, usersPath } from '../../../../iam/users/user.ts'
import { parseUserDraft, type UserDraft } from '../../../../iam/users/user-draft.ts'
import type { RequirePermissions, UserWriter, WriteOptions } from '../../../../iam/users/user-writer.ts'
import { compactJson, fieldText, withFields, withoutField } from '../../../../json/fields.ts'
import { type KubeClient, readText } from '../../../../kubeclient/client.ts'
import { fieldsOf, isRecord, itemsOf, type KubeObject } from '../../../../kubeclient/object/object.ts'
import { isConflict, retry } from '../../../../kubeclient/retry.ts'
import { users as userTraits } from '../../../../resourcecache/kinds/platform.ts'
import { readDeleteOptions } from '../../../write/delete-options.ts'
import { isDryRun } from '../../../write/dry-run.ts'
import { readJson } from '../../../write/json-body.ts'
import {
  type PlatformRoles,
  platformRoleAnnotation,
  takePlatformRole,
  withoutPlatformRole,
} from '../roles/platform-roles.ts'
import type { Subject } from '../roles/role-bindings.ts'
import { mergePatch } from './merge-patch.ts'
import { explainOwnFields, toOwnDraft } from './own-fields.ts'
import { toUserText } from './user-response.ts'

export type UsersOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly writer: UserWriter
  readonly permitOf: (exchange: AuthenticatedExchange) => RequirePermissions
  /** Returns whether the user in the path is the caller, who may change some fields. */
  readonly isOwn: (exchange: AuthenticatedExchange) => boolean
  /** @throws Status 403 for a caller who may not write the user in the path */
  readonly requireWrite: (exchange: AuthenticatedExchange) => Promise<void>
  readonly users: { readonly get: (name: string) => User | undefined }
  readonly platformRoles: PlatformRoles
  /** Removes a deleted user from bindings, as the caller, and warns about those that remain. */
  readonly leaveBindings: (exchange: AuthenticatedExchange, subject: Subject) => Promise<void>
  /** Writes an audit event. */
  readonly audit: (exchange: AuthenticatedExchange, action: string, user: string) => void
}

const mergePatchType = 'application/merge-patch+json'

/** POST /users. */
export async function createUser(options: UsersOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { groupDomain, writer, permitOf, platformRoles, audit } = options
  const sent = parseUserDraft(await readJson(exchange.req, ['application/json']), groupDomain)
  const { draft, role } = takePlatformRole(sent, groupDomain)
  const how = writeOptions(exchange, permitOf)
  const named = { name: draft.name, groups: itemsOf(draft.spec.groups).map(String) }
  const give =
    role === '' ? undefined : await platformRoles.prepare(exchange, named, { role, isNewUser: true })
  const user = await writer.create(draft, how)
  if (!how.isDryRun) {
    audit(exchange, 'create', draft.name)
    if (draft.password !== undefined) audit(exchange, 'set password', draft.name)
    await give?.().catch(afterwards('the user was created, without the platform role'))
    if (role !== '') audit(exchange, `grant ${role}`, draft.name)
  }
  sendJson(exchange.res, 201, toResponse(user, groupDomain, role))
}

/** GET, PUT, PATCH and DELETE /users/{user}. */
export async function serveUser(options: UsersOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { groupDomain, writer, audit } = options
  const { req, res, info } = exchange
  const { method } = req
  if (method === 'GET' || method === 'HEAD') return sendJsonText(res, 200, await readUser(options, exchange))
  if (method === 'DELETE') {
    const deleteOptions = await readDeleteOptions(req)
    const isTried = isDryRun(exchange) || deleteOptions?.isDryRun === true
    await writer.remove(info.name, { isDryRun: isTried, options: deleteOptions?.options ?? {} })
    if (!isTried) {
      audit(exchange, 'delete', info.name)
      await options.leaveBindings(exchange, { kind: 'User', name: info.name })
    }
    return sendJson(res, 200, { message: 'success' })
  }
  if (method !== 'PUT' && method !== 'PATCH')
    throw methodNotAllowed(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])
  const change = method === 'PUT' ? put : patch
  const { user, role, finish } = await change(options, exchange)
  await finish?.()
  sendJson(res, 200, toResponse(user, groupDomain, role))
}

/** Sends a user as in lists, without fields that callers must not read. @throws Status 404, 503 */
async function readUser(
  { client, groupDomain, users, platformRoles, isOwn }: UsersOptions,
  exchange: AuthenticatedExchange,
): Promise<string> {
  const { name } = exchange.info
  const path = userPath(groupDomain, name)
  const json = await readText(client, { path }).catch((error: unknown) => {
    const resource = { group: `iam.${groupDomain}`, resource: 'users' }
    throw isStatus(error, 404) ? notFound(resource, name) : error
  })
  const shown = [...(userTraits.hidden ?? []), ['metadata', 'managedFields']].reduce(
    withoutField,
    compactJson(json),
  )
  const selfLink = JSON.stringify(toUserLink(groupDomain, name))
  const metadata = withFields(fieldText(shown, 'metadata'), new Map([['selfLink', selfLink]]))
  const roles = await (isOwn(exchange) ? platformRoles.read() : platformRoles.readFor(exchange))
  const role = roles?.of(users.get(name) ?? { name, groups: [] })
  return toUserText(withFields(shown, new Map([['metadata', metadata]])), role, groupDomain)
}

type UserWrite = {
  readonly user: KubeObject
  /** The requested platform role; '' for none. */
  readonly role: string
  /** Grants the role; called after the user has been written. */
  readonly finish?: () => Promise<void>
}

async function put(options: UsersOptions, exchange: AuthenticatedExchange): Promise<UserWrite> {
  const { groupDomain, writer } = options
  const { req, info } = exchange
  const draft = parseUserDraft(await readJson(req, ['application/json']), groupDomain, info.name)
  const update = async () =>
    write(options, exchange, {
      draft,
      before: options.isOwn(exchange)
        ? withoutPlatformRole(await writer.read(info.name), groupDomain)
        : undefined,
    })
  return retry(update, {
    isRetriable: error => draft.resourceVersion === '' && isConflict(error),
    attempts: 5,
  })
}

/** Applies a JSON Merge Patch (RFC 7396) to the shown user; other fields are kept. */
async function patch(options: UsersOptions, exchange: AuthenticatedExchange): Promise<UserWrite> {
  const { groupDomain, writer } = options
  const { req, info } = exchange
  const changes = await readJson(req, [mergePatchType])
  let isVersioned = false
  const update = async () => {
    const before = withoutPlatformRole(await writer.read(info.name), groupDomain)
    const draft = parseUserDraft(mergePatch(before, changes), groupDomain, info.name)
    isVersioned = draft.resourceVersion === versionOf(changes)
    return write(options, exchange, { draft, before })
  }
  // A patch without a resourceVersion is retried after a conflict: a login may have changed the
  // user in the meantime.
  return retry(update, { isRetriable: error => !isVersioned && isConflict(error), attempts: 5 })
}

/**
 * Replaces a user. Some fields of the caller's own user need no permission.
 *
 * @param before the state with which a change of the caller's own user is compared
 */
async function write(
  options: UsersOptions,
  exchange: AuthenticatedExchange,
  { draft: sent, before }: { readonly draft: UserDraft; readonly before: KubeObject | undefined },
): Promise<UserWrite> {
  const { groupDomain, users, writer, permitOf, isOwn, requireWrite, platformRoles, audit } = options
  const how = writeOptions(exchange, permitOf)
  const { draft, role } = takePlatformRole(sent, groupDomain)
  const named = users.get(draft.name) ?? { name: draft.name, groups: [] }
  const isOwnUser = before !== undefined && isOwn(exchange)
  // Only callers who may know the stored role may learn whether the given one equals it.
  if (role !== '' && !isOwnUser) await platformRoles.requireRead(exchange)
  // Consoles send back the role that they have read, which is not a change.
  const isNewRole = role !== '' && (await platformRoles.read()).of(named) !== role
  if (isOwnUser) {
    const own = isNewRole ? undefined : toOwnDraft(before, draft, groupDomain)
    if (own !== undefined) {
      // The update applies only to the version with which the draft was compared.
      const resourceVersion = draft.resourceVersion || before.metadata.resourceVersion
      const permitted = { ...how, permit: async () => undefined }
      const user = await writer.update({ ...own, resourceVersion }, permitted)
      if (!how.isDryRun) auditUpdate(options, exchange, own)
      return { user, role }
    }
    await requireWrite(exchange).catch(explainOwnFields)
  }
  const give = isNewRole
    ? await platformRoles.prepare(exchange, named, { role, isNewUser: false })
    : undefined
  const user = await writer.update(draft, how)
  if (how.isDryRun) return { user, role }
  auditUpdate(options, exchange, draft)
  if (give === undefined) return { user, role }
  return {
    user,
    role,
    async finish() {
      await give().catch(afterwards('the user was updated, without the platform role'))
      audit(exchange, `grant ${role}`, draft.name)
    },
  }
}

function auditUpdate({ audit }: UsersOptions, exchange: AuthenticatedExchange, draft: UserDraft): void {
  const { name, state, password } = draft
  audit(exchange, state === undefined ? 'update' : `update to ${state}`, name)
  if (password !== undefined) audit(exchange, 'set password', name)
}

/** Returns an error handler that adds what had been done before the failure. */
function afterwards(done: string): (error: unknown) => never {
  return error => {
    const { code, reason, message, details, headers } = toStatus(error)
    throw new Status(code, reason, `${message}: ${done}`, {
      ...(details === undefined ? {} : { details }),
      headers,
      cause: error,
    })
  }
}

function versionOf(changes: unknown): unknown {
  const metadata = isRecord(changes) ? changes.metadata : undefined
  return isRecord(metadata) ? metadata.resourceVersion : undefined
}

function writeOptions(exchange: AuthenticatedExchange, permitOf: UsersOptions['permitOf']): WriteOptions {
  return { isDryRun: isDryRun(exchange), permit: permitOf(exchange) }
}

/** Returns the user for a response: with selfLink and a state, as in lists. */
export function toResponse(user: KubeObject, groupDomain: string, role = ''): object {
  const { apiVersion, kind, metadata, status, ...rest } = user
  const annotations = { ...metadata.annotations, [platformRoleAnnotation(groupDomain)]: role }
  return {
    kind,
    apiVersion,
    metadata: {
      ...metadata,
      ...(role !== '' && { annotations }),
      selfLink: toUserLink(groupDomain, metadata.name),
    },
    ...rest,
    status: { state: 'Active', ...fieldsOf(status) },
  }
}

function toUserLink(groupDomain: string, name: string): string {
  return `${usersPath(groupDomain)}/${name}`
}

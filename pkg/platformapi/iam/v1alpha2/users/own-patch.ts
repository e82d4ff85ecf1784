import { Status } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { mediaTypeOf } from '../../../../httpserver/request/body.ts'
import { sendJson, sendJsonText } from '../../../../httpserver/response/respond.ts'
import { toUser } from '../../../../iam/users/user.ts'
import { invalidUser, parseUserDraft } from '../../../../iam/users/user-draft.ts'
import { passwordProblem, problemAt } from '../../../../iam/users/user-validation.ts'
import type { UserWriter } from '../../../../iam/users/user-writer.ts'
import { isRecord, type KubeObject } from '../../../../kubeclient/object/object.ts'
import { isConflict, retry } from '../../../../kubeclient/retry.ts'
import { type CallAs, withQueryOf } from '../../../write/as-caller.ts'
import { isDryRun } from '../../../write/dry-run.ts'
import { readJson } from '../../../write/json-body.ts'
import { mergePatch } from './merge-patch.ts'
import { explainOwnFields, ownFields, toOwnDraft } from './own-fields.ts'
import { toResponse } from './users.ts'

const jsonPatchType = 'application/json-patch+json'
const patchTypes = [jsonPatchType, 'application/merge-patch+json']

/** The parsed patch of the caller's own user. */
export type OwnChange = {
  readonly password: string | undefined
  /** The changed fields of spec, as a JSON Merge Patch. */
  readonly spec: Readonly<Record<string, unknown>>
}

/**
 * Parses a patch that changes only fields that users may change themselves: password, e-mail
 * address and language. With the password it may remove the annotation that an administrator has
 * set it.
 *
 * @returns undefined for any other patch
 */
export function toOwnChange(patch: unknown, type: string, groupDomain: string): OwnChange | undefined {
  const changes = type === jsonPatchType ? ofJsonPatch(patch) : ofMergePatch(patch)
  if (changes === undefined) return undefined
  const mark = `/metadata/annotations/iam.${groupDomain}~1uninitialized`
  const spec = new Map<string, unknown>()
  let password: string | undefined
  let hasMark = false
  for (const [pointer, value] of changes) {
    const own = ownFields.find(member => pointer === `/spec/${member}`)
    if (pointer === '/spec/password' && typeof value === 'string') password = value
    else if (own !== undefined) spec.set(own, value)
    else if (pointer === mark && value === null) hasMark = true
    else return undefined
  }
  const isOwn = password !== undefined || (spec.size > 0 && !hasMark)
  return isOwn ? { password, spec: Object.fromEntries(spec) } : undefined
}

type PatchedValues = readonly (readonly [pointer: string, value: unknown])[]

/** Returns the changed values by JSON Pointer; undefined if they depend on the document. */
function ofJsonPatch(patch: unknown): PatchedValues | undefined {
  if (!Array.isArray(patch)) return undefined
  const changes = patch.map(operation => {
    const { op, path, value } = isRecord(operation) ? operation : {}
    if (typeof path !== 'string') return undefined
    if (op === 'remove') return [path, null] as const
    return op === 'add' || op === 'replace' ? ([path, value] as const) : undefined
  })
  return changes.every(change => change !== undefined) ? changes : undefined
}

function ofMergePatch(patch: unknown, at = ''): PatchedValues {
  if (!isRecord(patch)) return [[at, patch]]
  return Object.entries(patch).flatMap(([key, value]) =>
    ofMergePatch(value, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}

export type OwnUserOptions = {
  readonly groupDomain: string
  readonly writer: Pick<UserWriter, 'read' | 'update' | 'setPassword'>
  readonly callAs: CallAs
  /** Returns whether a text is the current password of a user. @throws Status 503 */
  readonly isPassword: (user: string, password: string) => Promise<boolean>
  /** Returns whether the caller has logged in with the password a moment ago. @throws Status 503 */
  readonly hasJustLoggedIn: (exchange: AuthenticatedExchange) => Promise<boolean>
  readonly audit: (exchange: AuthenticatedExchange, action: string, user: string, rejection?: string) => void
}

/** Returns whether `patchOwnUser` may support the body of a request. */
export function isOwnPatchType({ req }: AuthenticatedExchange): boolean {
  return req.method === 'PATCH' && patchTypes.includes(mediaTypeOf(req))
}

/**
 * Handles a PATCH of the caller's own user at the path of kube-apiserver, as consoles of KubeSphere
 * 3.4 send it after a first login. A user who must change the password may omit the old one, but
 * only with a token of a login with that password a moment ago. Any other patch is proxied to
 * kube-apiserver as the caller.
 *
 * @throws Status 400, 403, 409, 413, 422, 503, and those of kube-apiserver
 */
export async function patchOwnUser(options: OwnUserOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { groupDomain, writer, callAs, audit } = options
  const { req, res, info } = exchange
  const type = mediaTypeOf(req)
  const patch = await readJson(req, patchTypes)
  const change = toOwnChange(patch, type, groupDomain)
  if (change === undefined) {
    const call = {
      method: 'PATCH',
      path: withQueryOf(exchange, info.path),
      body: patch,
      contentType: type,
    } as const
    const { code, text } = await callAs(exchange, call).catch(explainOwnFields)
    return sendJsonText(res, code, text)
  }
  const isTried = isDryRun(exchange)
  const { password, spec } = change
  if (password !== undefined) await requireNewPassword(options, exchange, { password, isTried })
  const changed = (action: string) => {
    if (!isTried) audit(exchange, action, info.name)
  }
  if (Object.keys(spec).length > 0) {
    await updateOwn(options, info.name, { spec, isTried })
    changed('update')
  }
  if (password !== undefined) {
    await writer.setPassword(info.name, password, { isDryRun: isTried, permit: undefined })
    changed('set password')
  }
  sendJson(res, 200, toResponse(await writer.read(info.name), groupDomain))
}

/**
 * Requires that the user must change the password, and changes it to another one.
 *
 * @throws Status 403 if the password need not be changed, or the login is too old; 422
 */
async function requireNewPassword(
  { groupDomain, writer, isPassword, hasJustLoggedIn, audit }: OwnUserOptions,
  exchange: AuthenticatedExchange,
  { password, isTried }: { readonly password: string; readonly isTried: boolean },
): Promise<void> {
  const { name } = exchange.info
  const path = `/kapis/iam.${groupDomain}/v1alpha2/users/${name}/password`
  if (!toUser(await writer.read(name)).mustChangePassword)
    throw new Status(403, 'Forbidden', `changing your password requires currentPassword: use PUT ${path}`)
  if (!(await hasJustLoggedIn(exchange))) {
    audit(exchange, 'set password', name, 'old_login')
    const message = `log in again with your password to set a new one, or use PUT ${path} with currentPassword`
    throw new Status(403, 'Forbidden', message)
  }
  // A dry run skips this check, since it could be used to guess the password.
  const isSame = !isTried && (await isPassword(name, password))
  const problem = passwordProblem(password) ?? (isSame ? 'must differ from your current password' : undefined)
  if (problem !== undefined) throw invalidUser(groupDomain, name, problemAt('spec.password', problem))
}

function updateOwn(
  { groupDomain, writer }: OwnUserOptions,
  name: string,
  { spec, isTried }: { readonly spec: OwnChange['spec']; readonly isTried: boolean },
): Promise<KubeObject> {
  const update = async () => {
    const before = await writer.read(name)
    const draft = parseUserDraft(mergePatch(before, { spec }), groupDomain, name)
    const own = toOwnDraft(before, draft, groupDomain)
    if (own === undefined) throw new Error('a patch of email and lang has changed other fields')
    return writer.update(own, { isDryRun: isTried, permit: async () => undefined })
  }
  return retry(update, { isRetriable: isConflict, attempts: 5 })
}

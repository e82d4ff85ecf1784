import { methodNotAllowed, Status } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { isOver, sendJson, sendJsonText } from '../../../../httpserver/response/respond.ts'
import { addWarning } from '../../../../httpserver/response/warning.ts'
import { fieldsOf, parseObject, textOf } from '../../../../kubeclient/object/object.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'
import { withQueryOf } from '../../../write/as-caller.ts'
import { readDeleteOptions, toDeleteBody } from '../../../write/delete-options.ts'
import { isDryRun } from '../../../write/dry-run.ts'
import { readJson, readPatch } from '../../../write/json-body.ts'
import { keepLabels, parseSent } from '../../../write/sent-object.ts'
import { maxWrites, writeEach } from '../roles/member-changes.ts'
import type { ScopeReader } from '../roles/role-reader.ts'
import { groupsOf } from '../users/user-groups.ts'
import type { GroupTools, WorkspaceGroups } from './workspace-groups.ts'

/**
 * Creates the handlers for the Groups of a workspace: custom resources that are written as the
 * caller. A Group itself grants no permissions.
 *
 * @throws Status 400, 403, 404, 405, 409, 413, 415, and those of kube-apiserver
 */
export function createGroupHandlers(tools: GroupTools, groups: WorkspaceGroups, scopes: ScopeReader) {
  const { groupDomain, callAs, changeGroups, leaveBindings } = tools
  const { iam } = groups
  const path = `/apis/${iam}/v1alpha2/groups`
  const kind = { plural: 'groups', kind: 'Group', namespaced: false, group: iam, version: 'v1alpha2' }
  const label = `${groupDomain}/workspace`

  async function show(
    exchange: AuthenticatedExchange,
    entries: readonly CachedObject[],
    name = '',
  ): Promise<void> {
    const info = scopes.viewInfo(exchange, 'groups', name)
    const items = entries.map(entry => parseObject(entry.parsed()))
    await scopes.show({ ...exchange, info }, kind, items)
  }

  /** Returns the given group with the label of the workspace. @throws Status 400 */
  function toGroup(sent: unknown, workspace: string, name?: string): object {
    const { metadata, ...rest } = parseSent(sent, { kind: 'Group', name })
    const labels = { ...metadata.labels, [label]: workspace }
    return { ...rest, apiVersion: `${iam}/v1alpha2`, kind: 'Group', metadata: { ...metadata, labels } }
  }

  async function create(exchange: AuthenticatedExchange, workspace: string): Promise<void> {
    const body = toGroup(await readJson(exchange.req, ['application/json']), workspace)
    // The name must be unique: consoles show generateName as the name of a department.
    const generateName = textOf(fieldsOf(fieldsOf(body).metadata).generateName)
    const isTaken = (entry: CachedObject) => fieldsOf(entry.parsed().metadata).generateName === generateName
    if (generateName !== '' && (await groups.all(exchange, workspace)).some(isTaken))
      throw new Status(
        409,
        'AlreadyExists',
        `the workspace already has a group ${JSON.stringify(generateName)}`,
      )
    const made = await callAs(exchange, { method: 'POST', path: withQueryOf(exchange, path), body })
    sendJsonText(exchange.res, made.code, made.text)
  }

  /** @throws Status 409 if there are more members than one request may write */
  async function removeMembers(exchange: AuthenticatedExchange, group: string): Promise<void> {
    // Only callers who may list users may learn how many members a group has.
    if (!(await scopes.mayList(exchange, iam, 'users'))) {
      addWarning(exchange.res, 'users may still have the group in spec.groups: you may not list users')
      return
    }
    const members = [...(await scopes.latest('users')).entries()].filter(entry =>
      groupsOf(entry.parsed()).includes(group),
    )
    const failed = await writeEach(members.slice(0, maxWrites), {
      write: ({ name: user }) => changeGroups(exchange, { user, group, isMember: false }),
      isOver: () => isOver(exchange.res),
    })
    const left = members.length - maxWrites
    if (left > 0) throw stillHasMembers(group, left + failed.length)
    if (failed.length > 0)
      addWarning(exchange.res, `${failed.length} users still have the group in spec.groups`)
  }

  function stillHasMembers(name: string, count: number): Status {
    const message = `the group ${JSON.stringify(name)} has ${count} more members: delete it again to continue`
    return new Status(409, 'Conflict', message, { details: { name, group: iam, kind: 'groups' } })
  }

  /**
   * Removes members and bindings before the group itself. Otherwise users of a deleted group would
   * be members of a new group with the same name. A group that remains after a failure or the
   * deadline can be deleted again.
   */
  async function remove(
    exchange: AuthenticatedExchange,
    { name, meta: { uid } }: CachedObject,
  ): Promise<void> {
    const deleteOptions = (await readDeleteOptions(exchange.req)) ?? { options: {}, isDryRun: false }
    const isTried = isDryRun(exchange) || deleteOptions.isDryRun
    // The uid ensures that the group whose workspace was checked is deleted, not a new one with the
    // same name.
    const preconditions = { uid, ...fieldsOf(deleteOptions.options.preconditions) }
    const options = { ...deleteOptions.options, preconditions }
    const deletion = (how: { readonly isDryRun: boolean }) =>
      callAs(exchange, {
        method: 'DELETE',
        path: `${path}/${encodeURIComponent(name)}`,
        ...toDeleteBody(exchange, { options, ...how }),
      })
    await deletion({ isDryRun: true })
    if (!isTried) {
      await removeMembers(exchange, name)
      await leaveBindings(exchange, { kind: 'Group', name })
      if (isOver(exchange.res)) return
      await deletion({ isDryRun: false })
    }
    sendJson(exchange.res, 200, { message: 'success' })
  }

  /** @throws Status 400, 413, 415 */
  async function readChange({ req }: AuthenticatedExchange, workspace: string, name: string) {
    if (req.method === 'PUT') {
      const sent = await readJson(req, ['application/json'])
      return { method: 'PUT', body: toGroup(sent, workspace, name) } as const
    }
    const { patch, contentType } = await readPatch(req)
    return { method: 'PATCH', body: keepLabels(patch, { [label]: workspace }), contentType } as const
  }

  return {
    async collection(exchange: AuthenticatedExchange, workspace: string): Promise<void> {
      const { method = '' } = exchange.req
      if (method === 'POST') return create(exchange, workspace)
      if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD', 'POST'])
      await show(exchange, await groups.all(exchange, workspace))
    },
    async one(exchange: AuthenticatedExchange, workspace: string, name: string): Promise<void> {
      const { req, res } = exchange
      const { method = '' } = req
      if (!['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'].includes(method))
        throw methodNotAllowed(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])
      const entry = await groups.one(exchange, workspace, name)
      if (method === 'GET' || method === 'HEAD') return show(exchange, [entry], name)
      if (method === 'DELETE') return remove(exchange, entry)
      const at = withQueryOf(exchange, `${path}/${encodeURIComponent(name)}`)
      const { code, text } = await callAs(exchange, {
        path: at,
        ...(await readChange(exchange, workspace, name)),
      })
      sendJsonText(res, code, text)
    },
  }
}

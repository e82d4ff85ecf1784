import { badRequest, methodNotAllowed, notFound } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import { isRecord, type KubeObject } from '../../../../kubeclient/object/object.ts'
import { groupBindings } from '../../../../resourcecache/kinds/platform.ts'
import { readJson } from '../../../write/json-body.ts'
import { apply } from '../roles/member-grants.ts'
import { requireMethod } from '../roles/member-routes.ts'
import type { ScopeReader } from '../roles/role-reader.ts'
import { groupsOf } from '../users/user-groups.ts'
import type { GroupTools, WorkspaceGroups } from './workspace-groups.ts'

type Membership = { readonly userName: string; readonly groupName: string }

/**
 * Creates the handlers for GroupBindings, which are views of the groups in `spec.groups` of users:
 * reads list them, writes change the users.
 *
 * @throws Status 400, 403, 404, 405, 409, 413, 415, 422, 503
 */
export function createGroupBindingHandlers(tools: GroupTools, groups: WorkspaceGroups, scopes: ScopeReader) {
  const { groupDomain, changeGroups } = tools
  const { iam } = groups
  const kind = {
    ...{ plural: 'groupbindings', kind: 'GroupBinding', namespaced: false, group: iam, version: 'v1alpha2' },
    traits: groupBindings(groupDomain),
  }

  function toBinding(workspace: string, { userName, groupName }: Membership, since: string): KubeObject {
    return {
      apiVersion: `${iam}/v1alpha2`,
      kind: 'GroupBinding',
      metadata: {
        // The colon makes the name unambiguous: names of groups and users contain none.
        name: `${groupName}:${userName}`,
        ...{ uid: '', resourceVersion: '0', creationTimestamp: since },
        labels: {
          [`${iam}/group-ref`]: groupName,
          [`${iam}/user-ref`]: userName,
          [`${groupDomain}/workspace`]: workspace,
        },
      },
      groupRef: { apiGroup: iam, kind: 'groups', name: groupName },
      users: [userName],
    }
  }

  async function show(exchange: AuthenticatedExchange, workspace: string): Promise<void> {
    const known = new Map((await groups.all(exchange, workspace)).map(({ name, meta }) => [name, meta]))
    await groups.requireList(exchange, 'users')
    const users = [...(await scopes.latest('users')).entries()]
    const items = users.flatMap(user =>
      groupsOf(user.parsed()).flatMap(groupName => {
        const meta = known.get(groupName)
        if (meta === undefined) return []
        return [toBinding(workspace, { userName: user.name, groupName }, meta.creationTimestamp)]
      }),
    )
    await scopes.show({ ...exchange, info: scopes.viewInfo(exchange, kind.plural) }, kind, items)
  }

  async function add(exchange: AuthenticatedExchange, workspace: string): Promise<void> {
    const memberships = parseMemberships(await readJson(exchange.req, ['application/json']))
    const known = new Map((await groups.all(exchange, workspace)).map(({ name, meta }) => [name, meta]))
    for (const [i, { groupName }] of memberships.entries())
      if (!known.has(groupName)) throw groups.unknownGroup(groupName, `[${i}].groupName`)
    const changes = memberships.map(({ userName: user, groupName: group }) => ({
      user,
      steps: [{ where: group, run: () => changeGroups(exchange, { user, group, isMember: true }) }],
    }))
    await apply(exchange, changes, () => undefined)
    const toView = (each: Membership) =>
      toBinding(workspace, each, known.get(each.groupName)?.creationTimestamp ?? '')
    sendJson(exchange.res, 200, memberships.map(toView))
  }

  return {
    async collection(exchange: AuthenticatedExchange, workspace: string): Promise<void> {
      requireMethod(exchange, ['GET', 'HEAD', 'POST'])
      return exchange.req.method === 'POST' ? add(exchange, workspace) : show(exchange, workspace)
    },
    async one(exchange: AuthenticatedExchange, workspace: string, name: string): Promise<void> {
      if (exchange.req.method !== 'DELETE') throw methodNotAllowed(['DELETE'])
      const [groupName = '', userName = ''] = name.split(':')
      await groups.one(exchange, workspace, groupName)
      await groups.requireList(exchange, 'users')
      const user = (await scopes.latest('users')).get('', userName)
      if (user === undefined || !groupsOf(user.parsed()).includes(groupName))
        throw notFound({ group: iam, resource: 'groupbindings' }, name)
      await changeGroups(exchange, { user: userName, group: groupName, isMember: false })
      sendJson(exchange.res, 200, { message: 'success' })
    },
  }
}

/** Parses members as consoles send them: `[{"userName", "groupName"}]`. @throws Status 400 */
function parseMemberships(body: unknown): readonly Membership[] {
  if (!Array.isArray(body) || body.length === 0 || body.length > 256)
    throw badRequest('the body must be a list of 1 to 256 members')
  return body.map((each: unknown) => {
    const { userName, groupName, ...unknown } = isRecord(each) ? each : {}
    const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
    if (!isText(userName) || !isText(groupName) || Object.keys(unknown).length > 0)
      throw badRequest('invalid member: expected {"userName": "NAME", "groupName": "GROUP"}')
    return { userName, groupName }
  })
}

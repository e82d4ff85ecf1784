import { badRequest, methodNotAllowed, notFound } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import {
  fieldsOf,
  isRecord,
  itemsOf,
  type KubeObject,
  parseObject,
  textOf,
} from '../../../../kubeclient/object/object.ts'
import { plain, workspaceRoleBindings } from '../../../../resourcecache/kinds/platform.ts'
import { type CallAs, withQueryOf } from '../../../write/as-caller.ts'
import { readDeleteOptions, toDeleteBody } from '../../../write/delete-options.ts'
import { readJson } from '../../../write/json-body.ts'
import { apply, createMemberGrants } from '../roles/member-grants.ts'
import { requireMethod } from '../roles/member-routes.ts'
import { rolesByMember } from '../roles/members.ts'
import { isGroup, isMember, isSameRole, type ScopeRef, type Subject } from '../roles/role-bindings.ts'
import { rbacGroup, type ScopeReader } from '../roles/role-reader.ts'

const inWorkspace = (workspace: string): ScopeRef => ({ scope: 'workspace', namespace: '', workspace })
const inNamespace = (namespace: string): ScopeRef => ({ scope: 'namespace', namespace, workspace: '' })

/**
 * Creates the handlers for the roles of groups in a workspace and in namespaces. Reads show RBAC
 * bindings that have a Group as subject; writes create and delete such bindings.
 *
 * @throws Status 400, 403, 404, 405, 409, 413, 415, 422, and those of kube-apiserver
 */
export function createGroupRoleHandlers(
  tools: { readonly groupDomain: string; readonly callAs: CallAs },
  scopes: ScopeReader,
) {
  const { groupDomain, callAs } = tools
  const iam = `iam.${groupDomain}`
  const { resolveScope, resolveRole, grantSteps, removalSteps, ownRoles, rolesBySubject } =
    createMemberGrants(tools, scopes)
  const groupLabel = `${iam}/group-ref`

  /** Returns the WorkspaceRoleBinding of a group, for all namespaces of the workspace. */
  function toWorkspaceBinding(workspace: string, group: string, role: string): KubeObject {
    return {
      apiVersion: `${iam}/v1alpha2`,
      kind: 'WorkspaceRoleBinding',
      metadata: {
        ...{ name: group, uid: '', resourceVersion: '0', creationTimestamp: '1970-01-01T00:00:00Z' },
        labels: { [groupLabel]: group, [`${groupDomain}/workspace`]: workspace },
      },
      subjects: [{ apiGroup: rbacGroup, kind: 'Group', name: group }],
      roleRef: { apiGroup: iam, kind: 'WorkspaceRole', name: role },
    }
  }

  async function showOfWorkspace(exchange: AuthenticatedExchange, workspace: string): Promise<void> {
    const scopeRef = inWorkspace(workspace)
    const known = await resolveScope(exchange, scopeRef)
    const held = await scopes.visibleRoles(exchange, known, isGroup)
    const roles = rolesByMember(held, known, known.namespaces)
    const info = scopes.viewInfo(exchange, 'workspacerolebindings')
    const kind = { plural: 'workspacerolebindings', kind: 'WorkspaceRoleBinding', namespaced: false }
    const what = { ...kind, group: iam, version: 'v1alpha2', traits: workspaceRoleBindings }
    const items = [...roles].map(([group, role]) => toWorkspaceBinding(workspace, group, role))
    await scopes.show({ ...exchange, info }, what, items)
  }

  /** Adds bindings as consoles send them: RoleBindings or WorkspaceRoleBindings without a name. */
  async function add(exchange: AuthenticatedExchange, scopeRef: ScopeRef): Promise<void> {
    const kind = scopeRef.scope === 'namespace' ? 'Role' : 'WorkspaceRole'
    const sent = parseRoleBindings(await readJson(exchange.req, ['application/json']), kind)
    const known = await resolveScope(exchange, scopeRef)
    const refs = await Promise.all(sent.map(({ role }) => resolveRole(exchange, known, role)))
    const namesOf = (kind: string) =>
      new Set(sent.flatMap(({ subject }) => (subject.kind === kind ? subject.name : [])))
    const held = {
      User: await rolesBySubject(known, 'User', namesOf('User')),
      Group: await rolesBySubject(known, 'Group', namesOf('Group')),
    }
    const names: string[] = []
    const changes = sent.map(({ subject }, i) => {
      const ref = refs[i]
      const own = held[subject.kind === 'Group' ? 'Group' : 'User'](subject.name)
      names[i] = own.find(({ binding }) => ref && isSameRole(binding.roleRef, ref))?.binding.entry.name ?? ''
      const steps = grantSteps(exchange, known, { subject, ref, held: own }).map(({ where, run }) => ({
        where,
        run: async () => {
          names[i] = textOf(await run())
        },
      }))
      return { user: subject.name, steps }
    })
    await apply(exchange, changes, () => undefined)
    sendJson(
      exchange.res,
      200,
      sent.map(({ subject, body }, i) => ({
        ...body,
        metadata: metadataOf(scopeRef, subject, names[i] ?? ''),
      })),
    )
  }

  /** Returns the name with which a binding can be deleted, and the labels with which it is found. */
  function metadataOf({ scope, namespace, workspace }: ScopeRef, { kind, name }: Subject, binding: string) {
    const labels = { [`${iam}/${kind.toLowerCase()}-ref`]: name }
    if (scope === 'namespace') return { name: binding, namespace, labels }
    // The bindings of users of a workspace are deleted as members.
    return { name, labels: { ...labels, [`${groupDomain}/workspace`]: workspace } }
  }

  async function removeOfWorkspace(exchange: AuthenticatedExchange, workspace: string, group: string) {
    const deleteOptions = await readDeleteOptions(exchange.req)
    if (deleteOptions?.isDryRun === true)
      throw badRequest('dryRun must be a query parameter here: ?dryRun=All')
    const known = await resolveScope(exchange, inWorkspace(workspace))
    const held = (await rolesBySubject(known, 'Group', new Set([group])))(group)
    const own = await ownRoles(known, held)
    if (own.length === 0) throw notFound({ group: iam, resource: 'workspacerolebindings' }, group)
    const steps = removalSteps(exchange, { kind: 'Group', name: group }, own)
    await apply(exchange, [{ user: group, steps }], () => undefined)
    sendJson(exchange.res, 200, { message: 'success' })
  }

  return {
    async ofWorkspace(exchange: AuthenticatedExchange, workspace: string): Promise<void> {
      requireMethod(exchange, ['GET', 'HEAD', 'POST'])
      if (exchange.req.method === 'POST') return add(exchange, inWorkspace(workspace))
      return showOfWorkspace(exchange, workspace)
    },
    async oneOfWorkspace(exchange: AuthenticatedExchange, workspace: string, name: string): Promise<void> {
      if (exchange.req.method !== 'DELETE') throw methodNotAllowed(['DELETE'])
      await removeOfWorkspace(exchange, workspace, name)
    },
    /**
     * Lists the RoleBindings of groups in all namespaces of a workspace, each with its group in a
     * label. The response is an array as in KubeSphere, whose console reads it as such.
     */
    async inNamespacesOf(exchange: AuthenticatedExchange, workspace: string): Promise<void> {
      requireMethod(exchange, ['GET', 'HEAD'])
      const known = await resolveScope(exchange, inWorkspace(workspace))
      const held = (await scopes.assignedRoles(known, isGroup)).filter(
        ({ recorded }) => recorded === undefined,
      )
      const names = new Map(
        await Promise.all(
          known.namespaces.map(async name => [name, await scopes.presetsAt(inNamespace(name))] as const),
        ),
      )
      const items = held.map(({ user: group, binding: { entry, roleRef } }) => {
        const binding = parseObject(entry.parsed())
        const { metadata } = binding
        const preset = names.get(entry.namespace)?.find(({ clusterRole }) => clusterRole === roleRef.name)
        const name = roleRef.kind === 'ClusterRole' ? (preset?.name ?? roleRef.name) : roleRef.name
        return {
          ...binding,
          metadata: { ...metadata, labels: { ...metadata.labels, [groupLabel]: group } },
          roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
        }
      })
      const info = scopes.viewInfo(exchange, 'rolebindings')
      const kind = { plural: 'rolebindings', kind: 'RoleBinding', namespaced: true }
      await scopes.show(
        { ...exchange, info },
        { ...kind, group: rbacGroup, version: 'v1', traits: plain, list: 'array' },
        items,
      )
    },
    async ofNamespace(exchange: AuthenticatedExchange, namespace: string): Promise<void> {
      if (exchange.req.method !== 'POST') throw methodNotAllowed(['POST'])
      await add(exchange, inNamespace(namespace))
    },
    async oneOfNamespace(exchange: AuthenticatedExchange, namespace: string, name: string): Promise<void> {
      if (exchange.req.method !== 'DELETE') throw methodNotAllowed(['DELETE'])
      const within = `/apis/${rbacGroup}/v1/namespaces/${encodeURIComponent(namespace)}/rolebindings`
      await callAs(exchange, {
        method: 'DELETE',
        path: withQueryOf(exchange, `${within}/${encodeURIComponent(name)}`),
        ...toDeleteBody(exchange, await readDeleteOptions(exchange.req)),
      })
      sendJson(exchange.res, 200, { message: 'success' })
    },
  }
}

type SentBinding = { readonly subject: Subject; readonly role: string; readonly body: object }

const namedFields = ['apiGroup', 'kind', 'name']

function unknownIn(object: unknown, known: readonly string[]): string | undefined {
  return Object.keys(fieldsOf(object)).find(key => !known.includes(key))
}

/**
 * @param roleKind the kind of roles in the scope
 * @throws Status 400
 */
function parseRoleBindings(body: unknown, roleKind: string): readonly SentBinding[] {
  if (!Array.isArray(body) || body.length === 0 || body.length > 256)
    throw badRequest('the body must be a list of 1 to 256 bindings')
  return body.map((each: unknown) => {
    const { roleRef, subjects } = fieldsOf(each)
    const { name: role, kind: sentKind = roleKind } = fieldsOf(roleRef)
    const [first, ...others] = itemsOf(subjects)
    const { kind, name } = fieldsOf(first)
    const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
    if (!isRecord(each) || !isText(role) || !isText(name) || !isText(kind) || others.length > 0)
      throw badRequest('a binding must have roleRef.name, and one subject with kind and name')
    const other =
      unknownIn(each, ['apiVersion', 'kind', 'metadata', 'roleRef', 'subjects']) ??
      unknownIn(roleRef, namedFields) ??
      unknownIn(first, namedFields)
    if (other !== undefined)
      throw badRequest(`unknown field ${JSON.stringify(other)} in a binding: expected roleRef and subjects`)
    // client-go of KubeSphere sends the kind of the binding.
    if (sentKind !== roleKind && sentKind !== `${roleKind}Binding`)
      throw badRequest(`invalid roleRef.kind ${JSON.stringify(sentKind)}: expected ${roleKind}`)
    const subject = { kind, name }
    if (!isGroup(subject) && !isMember(subject))
      throw badRequest(
        `invalid subject ${JSON.stringify(`${kind} ${name}`)}: expected a Group or a User whose name does not begin with system:`,
      )
    return { subject, role, body: each }
  })
}

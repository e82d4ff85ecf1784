import { setTimeout as sleep } from 'node:timers/promises'
import { isStatus, notFound, Status, toStatus } from '../../apierrors/status.ts'
import { isAnonymous, unauthenticatedGroup } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { parseRequestInfo } from '../../apirequest/request-info.ts'
import type { ObjectPermission } from '../../authz/authorizer.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { fieldsOf, type ObjectMeta, parseObject, textOf } from '../../kubeclient/object/object.ts'
import { retryTransient } from '../../kubeclient/retry.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import { bind } from '../iam/v1alpha2/roles/member-writes.ts'
import { type KubeResponse, withQueryOf } from '../write/as-caller.ts'
import { isDryRun } from '../write/dry-run.ts'
import { readJson } from '../write/json-body.ts'
import type { SentObjectWithLabels } from '../write/sent-object.ts'
import type { WorkspaceTools } from './dependencies.ts'
import { toProject } from './project-body.ts'
import { namespacesPath, parseNamespace, toNamespace } from './write-namespace.ts'

type Tools = Pick<
  WorkspaceTools,
  | 'groupDomain'
  | 'ownNamespace'
  | 'callAs'
  | 'callAsKapis'
  | 'requirePermission'
  | 'isAllowedNow'
  | 'isVisible'
  | 'created'
>

const createNamespaces = { verb: 'create', group: '', resource: 'namespaces', name: '' }

/**
 * Creates a namespace in a workspace: as the caller, or with the permissions of Kapis for callers
 * who may only create namespaces in this workspace.
 *
 * @throws Status 400, 403, 404 for a workspace that the caller may not see, 409, 413, 415, 422, 503,
 * and those of kube-apiserver
 */
export async function createNamespace(
  tools: Tools,
  exchange: AuthenticatedExchange,
  workspace: string,
): Promise<KubeResponse> {
  const { groupDomain, callAs, created } = tools
  const sent = parseNamespace(await readJson(exchange.req, ['application/json']))
  if (!(await isWorkspace(tools, exchange, workspace)))
    throw notFound({ group: `tenant.${groupDomain}`, resource: 'workspaces' }, workspace)
  const denial = await denialOf(tools, exchange, createNamespaces)
  if (denial !== undefined) {
    await requireProjects(tools, exchange, { workspace, denial })
    return createProject(tools, exchange, { sent, workspace })
  }
  const body = toNamespace(sent, { groupDomain, workspace })
  const called = await callAs(exchange, { method: 'POST', path: withQueryOf(exchange, namespacesPath), body })
  const namespace = textOf(fieldsOf(fieldsOf(JSON.parse(called.text)).metadata).name)
  if (!isDryRun(exchange)) await created(exchange, { workspace, namespace })
  return called
}

function isWorkspace(
  { groupDomain, isVisible }: Tools,
  exchange: AuthenticatedExchange,
  workspace: string,
  only?: ListRestriction,
): Promise<boolean> {
  const path = `/kapis/resources.${groupDomain}/v1alpha3/workspaces/${workspace}`
  return isVisible({ ...exchange, info: parseRequestInfo('GET', path) }, only)
}

/** Returns the 403 for a missing permission; undefined if the caller has it. @throws Status 503 */
async function denialOf(
  { requirePermission }: Tools,
  { identity }: AuthenticatedExchange,
  permission: ObjectPermission,
): Promise<Status | undefined> {
  try {
    await requirePermission(identity, permission)
    return undefined
  } catch (error) {
    if (isStatus(error, 403)) return error
    throw error
  }
}

/**
 * Requires the permission to create namespaces in the workspace, which RBAC grants by name.
 *
 * @throws Status 403 that names both permissions; 409 for a workspace that is being deleted; 503
 */
async function requireProjects(
  tools: Tools,
  exchange: AuthenticatedExchange,
  { workspace, denial }: { readonly workspace: string; readonly denial: Status },
): Promise<void> {
  const { identity } = exchange
  const group = `tenant.${tools.groupDomain}`
  const permission = { verb: 'create', group, resource: 'workspaces', subresource: 'namespaces' }
  const isUnknown = isAnonymous(identity) || identity.groups.includes(unauthenticatedGroup)
  if (isUnknown || (await denialOf(tools, exchange, { ...permission, name: workspace })) !== undefined) {
    const { code, reason, message, details = {} } = denial
    const hint = `in the workspace ${JSON.stringify(workspace)}, create on resource "workspaces/namespaces" in API group "${group}" with its name is sufficient`
    throw new Status(code, reason, `${message}; ${hint}`, { details })
  }
  const notDeleted = {
    key: 'not deleted',
    matches: ({ meta }: { readonly meta: ObjectMeta }) => meta.deletionTimestamp === undefined,
  }
  if (!(await isWorkspace(tools, exchange, workspace, notDeleted)))
    throw new Status(409, 'Conflict', `the workspace ${JSON.stringify(workspace)} is being deleted`)
}

/** Creates a namespace with the permissions of Kapis, of which the caller becomes an administrator. */
async function createProject(
  tools: Tools,
  exchange: AuthenticatedExchange,
  { sent, workspace }: { readonly sent: SentObjectWithLabels; readonly workspace: string },
): Promise<KubeResponse> {
  const { groupDomain, ownNamespace, callAsKapis, created } = tools
  const { username: creator } = exchange.identity
  const { body, isCreatorReplaced } = toProject(sent, { groupDomain, workspace, ownNamespace, creator })
  const path = `${namespacesPath}${knownParameters(exchange)}`
  const called = await callAsKapis(exchange, { method: 'POST', path, body })
  if (isCreatorReplaced)
    addWarning(exchange.res, `the creator of the namespace is ${JSON.stringify(creator)}, not another user`)
  if (isDryRun(exchange)) return called
  const { metadata } = parseObject(JSON.parse(called.text))
  if (await makeAdmin(tools, exchange, metadata))
    await created(exchange, { workspace, namespace: metadata.name, isAdmin: true })
  return called
}

/** Returns the parameters of a write that kube-apiserver defines, each given at most once. */
function knownParameters(exchange: AuthenticatedExchange): string {
  isDryRun(exchange)
  const known = ['dryRun', 'fieldManager', 'fieldValidation'].flatMap(name => {
    const value = exchange.query.get(name)
    return value === null ? [] : [`${name}=${encodeURIComponent(value)}`]
  })
  return known.length === 0 ? '' : `?${known.join('&')}`
}

const waitMs = 2_000
const everyMs = 50

/**
 * Binds the caller to the ClusterRole `admin` in a new namespace, and waits until kube-apiserver
 * applies the binding. A failure results in a warning, since the namespace already exists.
 *
 * @returns false after a failure
 */
async function makeAdmin(
  { callAsKapis, isAllowedNow }: Tools,
  exchange: AuthenticatedExchange,
  { name: namespace, uid }: ObjectMeta,
): Promise<boolean> {
  const { identity, res } = exchange
  const binding = {
    subject: { kind: 'User', name: identity.username },
    namespace,
    roleRef: { kind: 'ClusterRole', name: 'admin' },
    labels: {},
    // The garbage collector deletes the binding if the namespace has been replaced by another one.
    owner: { apiVersion: 'v1', kind: 'Namespace', name: namespace, uid },
  }
  try {
    await retryTransient(() => bind(callAsKapis, { ...exchange, rawQuery: '' }, binding))
  } catch (error) {
    // The message is about the account of Kapis, so it is only in the log.
    const { code, reason } = toStatus(error)
    const why = `the RoleBinding of its creator failed (${code} ${reason})`
    addWarning(res, `namespace ${JSON.stringify(namespace)} has no administrator and no members: ${why}`)
    return false
  }
  const group = 'rbac.authorization.k8s.io'
  const permission = { verb: 'create', group, resource: 'rolebindings', namespace, name: '' }
  for (const until = performance.now() + waitMs; performance.now() < until; await sleep(everyMs))
    if (await isAllowedNow(identity, permission).catch(() => false)) break
  return true
}

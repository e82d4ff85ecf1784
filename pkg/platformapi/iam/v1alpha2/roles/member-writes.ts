import { badRequest, invalid, orUndefined, type Status } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import {
  fieldsOf,
  isRecord,
  itemsOf,
  type KubeObject,
  type ObjectMeta,
  parseObject,
  textOf,
} from '../../../../kubeclient/object/object.ts'
import { type CallAs, withQueryOf } from '../../../write/as-caller.ts'
import { toDeleteBody } from '../../../write/delete-options.ts'
import type { RoleRef, ScopeRef, Subject } from './role-bindings.ts'

export type Member = { readonly username: string; readonly roleRef: string }

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const group = 'rbac.authorization.k8s.io'

/** Parses members as consoles send them: `[{"username", "roleRef"}]`. @throws Status 400 */
export function parseMembers(body: unknown): readonly Member[] {
  if (!Array.isArray(body) || body.length === 0 || body.length > 256)
    throw badRequest('the body must be a list of 1 to 256 members')
  const members = body.map(parseMember)
  const twice = members.find(({ username }, i) => members.findIndex(each => each.username === username) < i)
  if (twice !== undefined) throw badRequest(`duplicate username ${JSON.stringify(twice.username)}`)
  return members
}

/** @throws Status 400 */
export function parseMember(body: unknown): Member {
  const { username, roleRef, ...unknown } = fieldsOf(body)
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
  if (!isRecord(body) || !isText(username) || !isText(roleRef))
    throw badRequest('invalid member: expected {"username": "NAME", "roleRef": "ROLE"}')
  const [other] = Object.keys(unknown)
  if (other !== undefined)
    throw badRequest(`unknown field ${JSON.stringify(other)}; supported: username, roleRef`)
  if (username.startsWith('system:'))
    throw badRequest(
      `invalid username ${JSON.stringify(username)}: names that begin with system: belong to Kubernetes`,
    )
  return { username, roleRef }
}

/** Returns a 422 for a role that does not exist in the scope. */
export function unknownRole(role: string, known: readonly string[]): Status {
  const message = `unknown role ${JSON.stringify(role)}; supported: ${known.join(', ')}`
  return invalid({ group, kind: 'RoleBinding' }, [
    { reason: 'FieldValueNotFound', message, field: 'roleRef' },
  ])
}

function bindingsPath(namespace: string): string {
  return namespace === ''
    ? `${rbac}/clusterrolebindings`
    : `${rbac}/namespaces/${encodeURIComponent(namespace)}/rolebindings`
}

/**
 * Grants a user or a group a role. The binding is created as the caller, so that kube-apiserver
 * prevents privilege escalation. Existing bindings are not changed.
 *
 * @param namespace '' for the whole cluster
 * @returns the name of the binding
 * @throws Status of kube-apiserver
 */
export async function bind(
  callAs: CallAs,
  exchange: AuthenticatedExchange,
  to: {
    readonly subject: Subject
    readonly namespace: string
    readonly roleRef: RoleRef
    readonly labels: Readonly<Record<string, string>>
    /** Owner reference of the binding, which is deleted with this object. */
    readonly owner?: object
  },
): Promise<string> {
  const { subject, namespace, roleRef, labels, owner } = to
  const body = {
    apiVersion: `${group}/v1`,
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: {
      generateName: `${subject.name}-${roleRef.name}-`
        .toLowerCase()
        .replaceAll(/[^a-z0-9.-]/g, '-')
        .slice(0, 200),
      labels: { 'app.kubernetes.io/managed-by': 'kapis', ...labels },
      ...(owner !== undefined && { ownerReferences: [owner] }),
    },
    roleRef: { apiGroup: group, ...roleRef },
    subjects: [{ apiGroup: group, kind: subject.kind, name: subject.name }],
  }
  const path = withQueryOf(exchange, bindingsPath(namespace))
  const { text } = await callAs(exchange, { method: 'POST', path, body })
  return textOf(fieldsOf(fieldsOf(JSON.parse(text)).metadata).name)
}

/** Removes a subject from a binding, or deletes its last one, as the caller. @throws Status */
export async function unbind(
  callAs: CallAs,
  exchange: AuthenticatedExchange,
  metadata: ObjectMeta,
  { kind, name }: Subject,
): Promise<void> {
  const path = `${bindingsPath(metadata.namespace ?? '')}/${encodeURIComponent(metadata.name)}`
  const binding = await read(callAs, exchange, path)
  if (binding === undefined) return
  const subjects = itemsOf(binding.subjects)
  const others = subjects.filter(
    subject => !(fieldsOf(subject).kind === kind && textOf(fieldsOf(subject).name) === name),
  )
  if (others.length === subjects.length) return
  const { uid, resourceVersion } = binding.metadata
  const written = withQueryOf(exchange, path)
  // The update contains a resourceVersion, so that it cannot overwrite concurrent changes.
  if (others.length > 0)
    await callAs(exchange, { method: 'PUT', path: written, body: { ...binding, subjects: others } })
  else
    await callAs(exchange, {
      method: 'DELETE',
      path: written,
      ...toDeleteBody(exchange, { options: { preconditions: { uid, resourceVersion } }, isDryRun: false }),
    })
}

async function read(
  callAs: CallAs,
  exchange: AuthenticatedExchange,
  path: string,
): Promise<KubeObject | undefined> {
  const response = await orUndefined(callAs(exchange, { path }), 404)
  return response && parseObject(JSON.parse(response.text))
}

/** Describes a scope in error messages. */
export function scopeText({ scope, namespace, workspace }: ScopeRef): string {
  if (scope === 'namespace') return `namespace ${JSON.stringify(namespace)}`
  return scope === 'workspace' ? `workspace ${JSON.stringify(workspace)}` : 'cluster'
}

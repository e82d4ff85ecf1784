import { methodNotAllowed, notFound, Status } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import { addWarning } from '../../../../httpserver/response/warning.ts'
import {
  fieldsOf,
  isRecord,
  itemsOf,
  type KubeObject,
  parseObject,
} from '../../../../kubeclient/object/object.ts'
import { type CallAs, withQueryOf } from '../../../write/as-caller.ts'
import { readDeleteOptions, toDeleteBody } from '../../../write/delete-options.ts'
import { readJson, readPatch } from '../../../write/json-body.ts'
import { keepLabels, parseSent } from '../../../write/sent-object.ts'
import { roleKinds, toRole } from './list-roles.ts'
import { type ScopeRef, scopeLabel } from './role-bindings.ts'
import { presetsOf } from './role-presets.ts'
import { aggregate, areRulesIncluded, templatesIn, withoutTemplateRules } from './role-templates.ts'

export type RoleWriteTools = {
  readonly groupDomain: string
  readonly callAs: CallAs
  /** @throws Status 403, 503 for a caller without the permission on the ClusterRole */
  readonly require: (
    exchange: AuthenticatedExchange,
    permission: { readonly verb: 'update' | 'patch' | 'delete'; readonly name: string },
  ) => Promise<void>
  /** @throws Status 403, 503 for a caller who may not list ClusterRoles */
  readonly requireTemplates: (exchange: AuthenticatedExchange) => Promise<void>
  readonly clusterRoles: () => Promise<Parameters<typeof aggregate>[1]['clusterRoles']>
  /** Returns whether a ClusterRole has the label of the scope. */
  readonly isLabelled: (scopeRef: ScopeRef, name: string) => Promise<boolean>
}

const version = 'rbac.authorization.k8s.io/v1'

/**
 * Writes the RBAC role behind a KubeSphere role, as the caller: a Role of the namespace, or a
 * ClusterRole with the label of its scope.
 *
 * @param name '' for a new role
 * @throws Status 400, 404, 405, 409, 413, 415, and those of kube-apiserver
 */
export async function writeRole(
  tools: RoleWriteTools,
  exchange: AuthenticatedExchange,
  { scopeRef, name }: { readonly scopeRef: ScopeRef; readonly name: string },
): Promise<void> {
  const { groupDomain, callAs, require, isLabelled } = tools
  const { req, res } = exchange
  const { method = '' } = req
  const allowed = name === '' ? ['POST'] : ['PUT', 'PATCH', 'DELETE']
  if (!allowed.includes(method)) throw methodNotAllowed(['GET', 'HEAD', ...allowed])
  const { scope, namespace } = scopeRef
  const all = `/apis/${version}/${scope === 'namespace' ? `namespaces/${encodeURIComponent(namespace)}/roles` : 'clusterroles'}`
  const path = withQueryOf(exchange, name === '' ? all : `${all}/${encodeURIComponent(name)}`)
  if (name !== '' && !roleKinds[scope].isNative) {
    // Setting the label of a ClusterRole requires permission to write ClusterRoles.
    await require(exchange, { verb: verbs[toMethod(method)], name })
    if (!(await isLabelled(scopeRef, name)))
      throw notFound({ group: `iam.${groupDomain}`, resource: roleKinds[scope].plural }, name)
  }
  if (method === 'DELETE') {
    const call = { method, path, ...toDeleteBody(exchange, await readDeleteOptions(req)) } as const
    await callAs(exchange, call).catch(asShown(groupDomain, scopeRef))
    return sendJson(res, 200, { message: 'success' })
  }
  const isPatch = method === 'PATCH'
  const { patch, ...contentType } = isPatch
    ? await readPatch(req)
    : { patch: await readJson(req, ['application/json']) }
  const sent = await withTemplates(tools, exchange, patch)
  const body = isPatch
    ? keepLabels(toPatch(sent), labelsOf(groupDomain, scopeRef))
    : toNative(sent, { groupDomain, scopeRef, name })
  const call = { method: toMethod(method), path, body, ...contentType }
  const { code, text } = await callAs(exchange, call).catch(asShown(groupDomain, scopeRef))
  sendJson(res, code, toRole(groupDomain, scopeRef, parseWritten(text)))
}

/** Parses a written object. One that a dry run creates has no version. */
function parseWritten(text: string): KubeObject {
  const written = fieldsOf(JSON.parse(text))
  return parseObject({ ...written, metadata: { resourceVersion: '', ...fieldsOf(written.metadata) } })
}

/**
 * Errors about the object itself name the kind that the caller has sent. Those about permissions
 * keep the native kind, which RBAC uses.
 */
function asShown(groupDomain: string, { scope }: ScopeRef): (error: unknown) => never {
  const { kind, plural, isNative } = roleKinds[scope]
  return error => {
    if (isNative || !(error instanceof Status) || ![404, 409, 422].includes(error.code)) throw error
    const { code, reason, message, details = {}, headers } = error
    const named = { clusterroles: plural, ClusterRole: kind }[details.kind ?? '']
    if (named === undefined) throw error
    const group = `iam.${groupDomain}`
    const text = message.replace(`${details.kind}.${details.group} `, () => `${named}.${group} `)
    throw new Status(code, reason, text, {
      details: { ...details, group, kind: named },
      headers,
      cause: error,
    })
  }
}

const verbs = { PUT: 'update', PATCH: 'patch', DELETE: 'delete', POST: 'update' } as const

function toMethod(method: string): keyof typeof verbs {
  return method === 'POST' || method === 'PUT' || method === 'DELETE' ? method : 'PATCH'
}

type RoleTarget = { readonly groupDomain: string; readonly scopeRef: ScopeRef; readonly name: string }

/** @throws Status 400 */
function toNative(sent: unknown, { groupDomain, scopeRef, name }: RoleTarget): object {
  const { kind } = roleKinds[scopeRef.scope]
  const { metadata, rules = [], ...rest } = parseSent(sent, { kind, name: name === '' ? undefined : name })
  // Lists would show the role of Kapis with this name instead of the created role.
  if (
    name === '' &&
    presetsOf(scopeRef.scope, scopeRef.workspace).some(preset => preset.name === metadata.name)
  ) {
    const { plural, isNative } = roleKinds[scopeRef.scope]
    const details = {
      name: String(metadata.name),
      group: isNative ? 'rbac.authorization.k8s.io' : `iam.${groupDomain}`,
      kind: plural,
    }
    const message = `${plural}.${details.group} ${JSON.stringify(metadata.name)} already exists`
    throw new Status(409, 'AlreadyExists', message, { details })
  }
  return {
    ...rest,
    apiVersion: version,
    kind: scopeRef.scope === 'namespace' ? 'Role' : 'ClusterRole',
    metadata: { ...metadata, labels: { ...metadata.labels, ...labelsOf(groupDomain, scopeRef) } },
    rules,
  }
}

/** Returns the labels that assign a ClusterRole to a scope. */
export function labelsOf(
  groupDomain: string,
  { scope, workspace }: ScopeRef,
): Readonly<Record<string, string>> {
  if (scope === 'global') return { [scopeLabel(groupDomain)]: 'global' }
  return scope === 'workspace' ? { [`${groupDomain}/workspace`]: workspace } : {}
}

/** Removes the kind from a merge patch: it differs from the kind of the RBAC role. */
function toPatch(sent: unknown): unknown {
  if (!isRecord(sent)) return sent
  const { kind: _, apiVersion: __, ...rest } = sent
  return rest
}

/**
 * Replaces the rules of a role, or of a merge patch, by those of the templates that it names.
 * kube-apiserver still rejects rules that the caller does not have.
 *
 * @throws Status 400, 403, 503
 */
async function withTemplates(
  { groupDomain, requireTemplates, clusterRoles }: RoleWriteTools,
  exchange: AuthenticatedExchange,
  sent: unknown,
): Promise<unknown> {
  const names = templatesIn(sent, groupDomain)
  if (names === undefined || !isRecord(sent)) return sent
  // Consoles send back all rules that they have read, including rules of templates that the user
  // has removed.
  const sentRules = itemsOf(sent.rules)
  if (names.length === 0 && sentRules.length === 0) {
    if (exchange.req.method === 'PATCH' && sent.rules === undefined)
      addWarning(exchange.res, 'the rules of the role are unchanged: the patch has no rules')
    return sent
  }
  const from = { groupDomain, clusterRoles: await clusterRoles() }
  if (names.length === 0) {
    const kept = withoutTemplateRules(sentRules, from)
    if (kept.length < sentRules.length)
      addWarning(exchange.res, 'the rules of role templates are removed, since the role names none')
    return { ...sent, rules: kept }
  }
  await requireTemplates(exchange)
  const { rules, unknown } = aggregate(names, from)
  if (unknown.length > 0) addWarning(exchange.res, `ignored unknown role templates: ${unknown.join(', ')}`)
  // If all named templates are unknown, the existing rules are kept.
  if (rules.length === 0) return sent
  if (!areRulesIncluded(sentRules, rules))
    addWarning(exchange.res, 'only the rules of the role templates are used')
  return { ...sent, rules }
}

import { notFound } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { parseRequestInfo } from '../../apirequest/request-info.ts'
import { fieldsOf, textOf } from '../../kubeclient/object/object.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import { type KubeResponse, withQueryOf } from '../write/as-caller.ts'
import { readDeleteOptions, toDeleteBody } from '../write/delete-options.ts'
import { readJson, readPatch } from '../write/json-body.ts'
import { keepLabels, parseSent } from '../write/sent-object.ts'
import type { WorkspaceTools } from './dependencies.ts'

type Tools = Pick<WorkspaceTools, 'groupDomain' | 'callAs' | 'isVisible' | 'created'>

const path = '/api/v1/namespaces'

/** Restricts a list to namespaces with the label of a workspace. */
export function isInWorkspace(groupDomain: string, workspace: string): ListRestriction {
  const label = `${groupDomain}/workspace`
  return {
    key: `in workspace ${workspace}`,
    matches: ({ meta }) => meta.labels?.[label] === workspace,
  }
}

/**
 * Creates a namespace in a workspace, as the caller.
 *
 * @throws Status 400, 404 for a workspace that the caller may not see, 413, 415, and those of
 * kube-apiserver
 */
export async function createNamespace(
  { groupDomain, callAs, isVisible, created }: Tools,
  exchange: AuthenticatedExchange,
  workspace: string,
): Promise<KubeResponse> {
  const body = toNamespace(await readJson(exchange.req, ['application/json']), { groupDomain, workspace })
  const info = parseRequestInfo('GET', `/kapis/resources.${groupDomain}/v1alpha3/workspaces/${workspace}`)
  if (!(await isVisible({ ...exchange, info })))
    throw notFound({ group: `tenant.${groupDomain}`, resource: 'workspaces' }, workspace)
  const called = await callAs(exchange, { method: 'POST', path: withQueryOf(exchange, path), body })
  const namespace = textOf(fieldsOf(fieldsOf(JSON.parse(called.text)).metadata).name)
  if (!exchange.query.has('dryRun')) await created(exchange, { workspace, namespace })
  return called
}

/**
 * Writes a namespace of a workspace, as the caller.
 *
 * @returns undefined after a delete
 * @throws Status 400, 413, 415, and those of kube-apiserver
 */
export async function writeNamespace(
  { groupDomain, callAs }: Tools,
  exchange: AuthenticatedExchange,
  { name, workspace }: { readonly name: string; readonly workspace: string },
): Promise<KubeResponse | undefined> {
  const { req } = exchange
  const one = withQueryOf(exchange, `${path}/${encodeURIComponent(name)}`)
  switch (req.method) {
    case 'PUT': {
      const body = toNamespace(await readJson(req, ['application/json']), { groupDomain, workspace, name })
      return callAs(exchange, { method: 'PUT', path: one, body })
    }
    case 'PATCH': {
      const { patch, contentType } = await readPatch(req, ['application/strategic-merge-patch+json'])
      const body = keepLabels(patch, { [`${groupDomain}/workspace`]: workspace })
      return callAs(exchange, { method: 'PATCH', path: one, body, contentType })
    }
    default: {
      await callAs(exchange, {
        method: 'DELETE',
        path: one,
        ...toDeleteBody(exchange, await readDeleteOptions(req)),
      })
      return undefined
    }
  }
}

type NamespaceTarget = { readonly groupDomain: string; readonly workspace: string; readonly name?: string }

/** Returns the given namespace with the label of the workspace. @throws Status 400 */
function toNamespace(body: unknown, { groupDomain, workspace, name }: NamespaceTarget): object {
  const kind = { kind: 'Namespace', apiVersion: 'v1' }
  const { metadata, ...rest } = parseSent(body, { ...kind, name })
  const labels = { ...metadata.labels, [`${groupDomain}/workspace`]: workspace }
  return { ...rest, ...kind, metadata: { ...metadata, labels } }
}

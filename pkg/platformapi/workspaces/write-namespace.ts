import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import { type KubeResponse, withQueryOf } from '../write/as-caller.ts'
import { readDeleteOptions, toDeleteBody } from '../write/delete-options.ts'
import { readJson, readPatch } from '../write/json-body.ts'
import { keepLabels, parseSent, type SentObjectWithLabels } from '../write/sent-object.ts'
import type { WorkspaceTools } from './dependencies.ts'

type Tools = Pick<WorkspaceTools, 'groupDomain' | 'callAs'>

export const namespacesPath = '/api/v1/namespaces'

/** Restricts a list to namespaces with the label of a workspace. */
export function isInWorkspace(groupDomain: string, workspace: string): ListRestriction {
  const label = `${groupDomain}/workspace`
  return {
    key: `in workspace ${workspace}`,
    matches: ({ meta }) => meta.labels?.[label] === workspace,
  }
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
  const one = withQueryOf(exchange, `${namespacesPath}/${encodeURIComponent(name)}`)
  switch (req.method) {
    case 'PUT': {
      const sent = parseNamespace(await readJson(req, ['application/json']), name)
      const body = toNamespace(sent, { groupDomain, workspace })
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

const kind = { kind: 'Namespace', apiVersion: 'v1' }

/** Parses a namespace of the caller. @param name from the path @throws Status 400 */
export function parseNamespace(body: unknown, name?: string): SentObjectWithLabels {
  return parseSent(body, { ...kind, name })
}

/** Returns the namespace with the label of the workspace. */
export function toNamespace(
  { metadata, ...rest }: SentObjectWithLabels,
  { groupDomain, workspace }: { readonly groupDomain: string; readonly workspace: string },
): object {
  const labels = { ...metadata.labels, [`${groupDomain}/workspace`]: workspace }
  return { ...rest, ...kind, metadata: { ...metadata, labels } }
}

import { randomUUID } from 'node:crypto'
import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { badRequest, methodNotAllowed, toStatus } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import type { RequestLine } from '../../apirequest/request-line.ts'
import { HookedResponse } from '../../httpserver/hooked-message.ts'
import { sendJson } from '../../httpserver/respond.ts'
import { isRecord } from '../../kubeclient/object.ts'

export type CountsOptions = {
  /** The path of the platform lists, such as `/kapis/resources.kapis.io/v1alpha3`. */
  readonly root: string
  /** Parses a path and its query. @throws Status 400 */
  readonly readLine: (method: string, url: string) => RequestLine
  /**
   * Audits, authorizes and serves a list of a cached kind, as a request of its own.
   *
   * @throws Status 400, 403, 404, 503
   */
  readonly serveList: Handler
}

/** The resource under which the resources group serves counts. */
export const countsPlural = 'counts'

/** The kinds of a console's menu. */
const usualKinds: readonly string[] = [
  ...['nodes', 'namespaces', 'workspaces', 'users'],
  ...['pods', 'deployments', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs'],
  ...['services', 'ingresses', 'configmaps', 'secrets', 'serviceaccounts'],
  ...['persistentvolumeclaims', 'persistentvolumes', 'storageclasses', 'customresourcedefinitions'],
]
const clusterKinds = new Set([
  ...['nodes', 'namespaces', 'workspaces', 'users', 'persistentvolumes', 'storageclasses'],
  'customresourcedefinitions',
])
const maxKinds = 50
// DNS labels of RFC 1035, as the plural of a custom resource.
const kindForm = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/
const namespaceForm = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

type Count = {
  readonly resource: string
  readonly totalItems?: number
  /** In how many namespaces, if the caller may not list the whole cluster. */
  readonly namespaces?: number
  /** Why there is no count. */
  readonly status?: object
}

/**
 * Serves `GET /kapis/resources.<group domain>/v1alpha3/counts[?kinds=pods,services&namespace=x]`:
 * how many objects of each kind the caller may list. Each count is authorized, narrowed and audited
 * like a separate list; a failed one has a Status in place of its number.
 *
 * @throws Status 400 that names the parameter, 405
 */
export function createCounts({ root, readLine, serveList }: CountsOptions): Handler {
  async function count(exchange: AuthenticatedExchange, resource: string, namespace: string): Promise<Count> {
    const scope = namespace === '' ? '' : `/namespaces/${namespace}`
    const { info, rawPath, rawQuery, query } = readLine('GET', `${root}${scope}/${resource}?limit=0`)
    const res = new HookedResponse(exchange.req)
    const chunks: Buffer[] = []
    res.onChunk(chunk => void chunks.push(chunk))
    const { upgrade: _upgrade, lasts: _lasts, ...shared } = { ...exchange, isSubrequest: true as const }
    try {
      await serveList({ ...shared, id: randomUUID(), info, rawPath, rawQuery, query, res })
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
      if (!isRecord(body) || typeof body.totalItems !== 'number') throw new Error('the list has no total')
      const narrowed = Number(res.getHeader('kapis-narrowed-namespaces') ?? 0)
      return { resource, totalItems: body.totalItems, ...(narrowed > 0 && { namespaces: narrowed }) }
    } catch (error) {
      return { resource, status: toKubeStatus(toStatus(error)) }
    }
  }

  return async exchange => {
    const { req, res, query } = exchange
    if (req.method !== 'GET') throw methodNotAllowed(['GET'])
    query.refuseAmbiguous()
    const namespace = query.get('namespace') ?? ''
    if (namespace !== '' && !namespaceForm.test(namespace))
      throw badRequest(
        `invalid namespace ${JSON.stringify(namespace.slice(0, 64))}: expected the name of a namespace`,
      )
    const kinds = toKinds(query.get('kinds') ?? '', namespace)
    const items: Count[] = []
    // One after the other, so that a request with many counts gets no more resources than one with
    // a single count.
    for (const kind of kinds) {
      if (res.destroyed) return
      items.push(await count(exchange, kind, namespace))
    }
    sendJson(res, 200, { items, totalItems: items.length })
  }
}

function toKinds(text: string, namespace: string): readonly string[] {
  if (text === '') return usualKinds.filter(kind => namespace === '' || !clusterKinds.has(kind))
  const kinds = [...new Set(text.split(','))]
  if (kinds.length > maxKinds)
    throw badRequest(`kinds has ${kinds.length} names; at most ${maxKinds} are allowed`)
  const wrong = kinds.find(kind => !kindForm.test(kind))
  if (wrong !== undefined)
    throw badRequest(`invalid kinds: ${JSON.stringify(wrong.slice(0, 64))} is not a plural such as pods`)
  return kinds
}

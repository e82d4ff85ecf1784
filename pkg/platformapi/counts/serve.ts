import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { badRequest, methodNotAllowed, toStatus } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { HookedResponse } from '../../httpserver/hooked-message.ts'
import { isOver, sendJson } from '../../httpserver/response/respond.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { parseKinds, parseNamespace, type SubrequestTools, toSubrequest } from '../subrequests/subrequest.ts'

export type CountsOptions = SubrequestTools & {
  /** The base path of the platform lists, such as `/kapis/resources.kapis.io/v1alpha3`. */
  readonly root: string
}

/** The resource under which the resources group serves counts. */
export const countsPlural = 'counts'

/** The kinds that are counted by default: those in the menu of a console. */
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
type Count = {
  readonly resource: string
  readonly totalItems?: number
  /** Number of counted namespaces, if the caller may not list the whole cluster. */
  readonly namespaces?: number
  /** The error if there is no count. */
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
    const line = readLine('GET', `${root}${scope}/${resource}?limit=0`)
    const res = new HookedResponse(exchange.req)
    const chunks: Buffer[] = []
    res.onChunk(chunk => void chunks.push(chunk))
    try {
      await serveList(toSubrequest(exchange, line, res))
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
    query.rejectAmbiguous()
    if ((query.get('clusters') ?? '') !== '')
      throw badRequest('clusters is not supported for counts; list one kind with clusters and limit=0')
    const namespace = parseNamespace(query.get('namespace') ?? '')
    const kinds = toKinds(query.get('kinds') ?? '', namespace)
    const items: Count[] = []
    // One count after another: a request with many kinds uses no more resources at a time than one.
    for (const kind of kinds) {
      if (isOver(res)) return
      items.push(await count(exchange, kind, namespace))
    }
    if (!isOver(res)) sendJson(res, 200, { items, totalItems: items.length })
  }
}

function toKinds(text: string, namespace: string): readonly string[] {
  if (text === '') return usualKinds.filter(kind => namespace === '' || !clusterKinds.has(kind))
  return parseKinds(text)
}

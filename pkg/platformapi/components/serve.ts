import { badRequest, methodNotAllowed, notFound, unknownResource } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import { sendJson } from '../../httpserver/response/respond.ts'
import { fieldsOf, isRecord, itemsOf } from '../../kubeclient/object/object.ts'
import { routeOf } from '../../openapi/route.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import type { componentPaths } from './description.ts'

export type ComponentTools = {
  readonly groupDomain: string
  /** The namespace of Kapis, whose components are listed first. */
  readonly namespace: string
  /** Returns the store of a built-in kind, as consistent as required. @throws Status 503 */
  readonly storeOf: (info: RequestInfo, plural: string) => Promise<ObjectStore>
}

/** A platform component, identified by its Service, in the format of the platform API. */
type Component = {
  readonly name: string
  readonly namespace: string
  readonly selfLink: string
  readonly label: Readonly<Record<string, unknown>>
  readonly startedAt: string
  readonly totalBackends: number
  readonly healthyBackends: number
}

/**
 * Returns whether the name in a path is reserved for components; Kubernetes resources with the same
 * name are then not served.
 */
export function isForComponents(resource: string): boolean {
  return resource === 'components' || resource === 'componenthealth'
}

/**
 * Serves `/components`, `/components/{component}` and `/componenthealth`: the Services with a
 * selector in the namespaces of kube-apiserver and the platform, with the number of ready pods of
 * each.
 *
 * @throws Status 404 for an unknown component, 405, 503
 */
export async function serveComponents(
  tools: ComponentTools,
  { req, res, info }: AuthenticatedExchange,
): Promise<void> {
  const read = routeOf(routes, info.parts)
  if (read === undefined) throw unknownResource()
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  if (info.verb !== 'get' && info.verb !== 'list') throw badRequest(`${info.verb} is not supported here`)
  sendJson(res, 200, await read(tools, await listComponents(tools, info), info))
}

type ReadComponents = (
  tools: ComponentTools,
  components: readonly Component[],
  info: AuthenticatedExchange['info'],
) => Promise<object> | object

const routes: Readonly<Record<keyof typeof componentPaths, ReadComponents>> = {
  '/components': (_tools, components) => components,
  '/components/{component}': (_tools, components, info) => {
    const found = components.find(({ name }) => name === info.name)
    if (found === undefined) throw notFound({ group: info.group, resource: 'components' }, info.name)
    return found
  },
  '/componenthealth': async (tools, components, info) => ({
    kubesphereStatus: components,
    nodeStatus: await nodeHealth(tools, info),
  }),
}

async function listComponents(
  { groupDomain, namespace, storeOf }: ComponentTools,
  info: RequestInfo,
): Promise<readonly Component[]> {
  const [services, pods] = await Promise.all(['services', 'pods'].map(plural => storeOf(info, plural)))
  const product = `${groupDomain.split('.')[0]}-`
  const isOfPlatform = (name: string) =>
    name === namespace || name === 'kube-system' || name.startsWith(product)
  const place = (name: string) => (name === namespace ? '' : name)
  const podsOf = new Map<string, CachedObject[]>()
  for (const pod of pods?.entries() ?? []) {
    if (!isOfPlatform(pod.namespace)) continue
    const known = podsOf.get(pod.namespace)
    if (known === undefined) podsOf.set(pod.namespace, [pod])
    else known.push(pod)
  }
  return [...(services?.entries() ?? [])]
    .filter(service => isOfPlatform(service.namespace))
    .flatMap(service => toComponent(service, podsOf.get(service.namespace) ?? []))
    .sort((a, b) => compare(place(a.namespace), place(b.namespace)) || compare(a.name, b.name))
}

/** @param pods all pods in the namespace of the Service */
function toComponent(service: CachedObject, pods: readonly CachedObject[]): Component[] {
  const { selector } = fieldsOf(service.parsed().spec)
  // Endpoints of a Service without a selector are managed elsewhere.
  if (!isRecord(selector) || Object.keys(selector).length === 0) return []
  const labels = Object.entries(selector)
  const backends = pods.filter(({ meta }) => labels.every(([key, value]) => meta.labels?.[key] === value))
  return [
    {
      name: service.name,
      namespace: service.namespace,
      selfLink: `/api/v1/namespaces/${service.namespace}/services/${service.name}`,
      label: selector,
      startedAt: service.meta.creationTimestamp,
      totalBackends: backends.length,
      healthyBackends: backends.filter(isHealthy).length,
    },
  ]
}

function isHealthy(pod: CachedObject): boolean {
  const { phase, containerStatuses } = fieldsOf(pod.parsed().status)
  return phase === 'Running' && itemsOf(containerStatuses).every(status => fieldsOf(status).ready === true)
}

async function nodeHealth({ storeOf }: ComponentTools, info: RequestInfo) {
  const nodes = await storeOf(info, 'nodes')
  const entries = [...nodes.entries()]
  return {
    totalNodes: entries.length,
    healthyNodes: entries.filter(node => node.fields.status === 'running').length,
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

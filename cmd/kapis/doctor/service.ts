import { fieldsOf, itemsOf, parseList, textOf } from '../../../pkg/kubeclient/object/object.ts'
import { apply, type Check, error, type Finding, type Installation, read, warning } from './check.ts'

/** Checks the Service, its endpoints, and its Deployment. */
export const service: Check = {
  name: 'service',
  async examine(installation) {
    const { client, namespace, service: expected } = installation
    const home = await read(client, `/api/v1/namespaces/${namespace}`)
    if (home === undefined) {
      return [
        error(
          `namespace ${namespace} not found: Kapis is not installed there`,
          `${apply}, or name the namespace with --namespace`,
        ),
      ]
    }
    const found = await read(client, `/api/v1/namespaces/${namespace}/services/${expected.name}`)
    if (found === undefined) return [error(`the Service ${namespace}/${expected.name} is missing`, apply)]
    const { type, ports } = fieldsOf(found.spec)
    // The cluster does not know the endpoints of an external name.
    if (type === 'ExternalName') return []
    const port = itemsOf(ports)
      .map(fieldsOf)
      .find(one => one.port === expected.port)
    if (port === undefined) {
      const has = itemsOf(ports).map(one => textOf(fieldsOf(one).port))
      return [
        error(
          `the Service ${namespace}/${expected.name} has no port ${expected.port} (it has ${has.join(', ')})`,
          apply,
        ),
      ]
    }
    return (await hasReadyEndpoint(installation, textOf(port.name))) ? [] : behind(installation)
  },
}

async function hasReadyEndpoint(
  { client, namespace, service: { name } }: Installation,
  port: string,
): Promise<boolean> {
  const selector = encodeURIComponent(`kubernetes.io/service-name=${name}`)
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`
  const { items } = parseList(await client.call({ path }))
  return items.some(
    slice =>
      itemsOf(slice.ports).some(one => textOf(fieldsOf(one).name) === port) &&
      itemsOf(slice.endpoints).some(one => fieldsOf(fieldsOf(one).conditions).ready !== false),
  )
}

/** Explains why the Service has no endpoints. */
async function behind({ client, namespace, service: { name } }: Installation): Promise<readonly Finding[]> {
  const none = `the Service ${namespace}/${name} has no ready endpoint`
  const deployment = await read(client, `/apis/apps/v1/namespaces/${namespace}/deployments/kapis`)
  if (deployment === undefined) return [error(`${none}: the Deployment kapis is missing`, apply)]
  if (fieldsOf(deployment.spec).replicas === 0)
    return [
      error(
        `${none}: the Deployment is scaled to 0`,
        `kubectl -n ${namespace} scale deployment kapis --replicas=2`,
      ),
    ]
  const selector = encodeURIComponent('app.kubernetes.io/name=kapis,app.kubernetes.io/component=apiserver')
  const { items } = parseList(
    await client.call({ path: `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}` }),
  )
  const waiting = items.flatMap(pod => reasons(pod.metadata.name, fieldsOf(pod.status)))
  const fix = `kubectl -n ${namespace} describe pods; kubectl -n ${namespace} logs deployment/kapis -c apiserver`
  return [
    error(`${none}: ${items.length} Pods, none of them ready`, fix),
    ...waiting.map(why => warning(why, fix)),
  ]
}

function reasons(pod: string, status: Readonly<Record<string, unknown>>): readonly string[] {
  const containers = [...itemsOf(status.initContainerStatuses), ...itemsOf(status.containerStatuses)].map(
    fieldsOf,
  )
  return containers.flatMap(({ name, state, restartCount }) => {
    const { reason, message } = fieldsOf(fieldsOf(state).waiting)
    if (reason === undefined) return []
    return [`${pod}/${textOf(name)}: ${textOf(reason)} ${textOf(message)} (${textOf(restartCount)} restarts)`]
  })
}

import { type Cluster, hostAddress } from './control-plane.ts'

/** What the kubelet and the endpoint controllers make of a Pod's readiness. */
export function createEndpoint(cluster: Cluster, o: { name: string; namespace: string; port: number }) {
  const slice = (ready: boolean) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `kapis-${o.name}`,
      namespace: o.namespace,
      labels: { 'kubernetes.io/service-name': 'kapis' },
    },
    addressType: 'IPv4',
    ports: [{ name: 'https', port: o.port, protocol: 'TCP' }],
    endpoints: [{ addresses: [hostAddress()], conditions: { ready } }],
  })
  return {
    set: async (ready: boolean) => {
      // kube-apiserver looks for the first slice with an endpoint, ready or not: one that is not ready is none.
      const wanted = ready ? slice(true) : { ...slice(false), endpoints: [] }
      await cluster.output(['apply', '--server-side', '-f', '-'], JSON.stringify(wanted))
    },
    remove: async () => {
      const name = `endpointslice/kapis-${o.name}`
      await cluster.output(['-n', o.namespace, 'delete', name, '--ignore-not-found'])
    },
  }
}

/** The same as kube-apiserver's proxy to Services wants it: the older Endpoints, of a Pod that has the address. */
export function createOlderEndpoint(cluster: Cluster, o: { name: string; namespace: string; port: number }) {
  const { name, namespace } = o
  const ip = hostAddress()
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { serviceAccountName: 'kapis', containers: [{ name: 'none', image: 'none.invalid/none' }] },
  }
  const targetRef = { kind: 'Pod', name, namespace }
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'kapis', namespace },
    subsets: [{ addresses: [{ ip, targetRef }], ports: [{ name: 'https', port: o.port }] }],
  }
  const within = ['-n', namespace]
  return {
    make: async () => {
      const list = { apiVersion: 'v1', kind: 'List', items: [pod, endpoints] }
      await cluster.output(['apply', '-f', '-'], JSON.stringify(list))
      const status = JSON.stringify({ status: { podIP: ip, podIPs: [{ ip }] } })
      await cluster.output([...within, 'patch', 'pod', name, '--subresource=status', '-p', status])
    },
    remove: async () => {
      await cluster.output([
        ...within,
        'delete',
        'endpoints/kapis',
        `pod/${name}`,
        '--ignore-not-found',
        '--grace-period=0',
        '--force',
      ])
    },
  }
}

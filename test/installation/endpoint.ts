import { type Cluster, hostAddress } from './control-plane.ts'

type ServiceRef = { readonly name: string; readonly namespace: string }

/**
 * Creates the EndpointSlice for the readiness of a Pod.
 *
 * @param o.pod the Pod with the address; the Service proxy of kube-apiserver requires one
 */
export function createEndpoint(cluster: Cluster, o: ServiceRef & { port: number; pod?: string }) {
  const { name, namespace, port, pod } = o
  const targetRef = pod === undefined ? {} : { targetRef: { kind: 'Pod', name: pod, namespace } }
  const slice = (ready: boolean) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `kapis-${name}`, namespace, labels: { 'kubernetes.io/service-name': 'kapis' } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [hostAddress()], conditions: { ready }, ...targetRef }],
  })
  return {
    set: async (ready: boolean) => {
      // An unready endpoint is omitted: kube-apiserver uses the first slice with an endpoint, ready
      // or not.
      const desired = ready ? slice(true) : { ...slice(false), endpoints: [] }
      await cluster.output(['apply', '--server-side', '-f', '-'], JSON.stringify(desired))
    },
    remove: async () => {
      await cluster.output(['-n', namespace, 'delete', `endpointslice/kapis-${name}`, '--ignore-not-found'])
    },
  }
}

/**
 * Creates a Pod and Endpoints with the address of this machine, as kubelet and endpoints controller
 * do.
 */
export function createPod(cluster: Cluster, { name, namespace, port }: ServiceRef & { port: number }) {
  const ip = hostAddress()
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { serviceAccountName: 'kapis', containers: [{ name: 'none', image: 'none.invalid/none' }] },
  }
  // Before Kubernetes 1.37, the Service proxy reads Endpoints.
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'kapis', namespace },
    subsets: [
      { addresses: [{ ip, targetRef: { kind: 'Pod', name, namespace } }], ports: [{ name: 'https', port }] },
    ],
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
      const now = ['--ignore-not-found', '--grace-period=0', '--force']
      await cluster.output([...within, 'delete', 'endpoints/kapis', `pod/${name}`, ...now])
    },
  }
}

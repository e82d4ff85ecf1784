export type OriginName = 'namespace' | 'pod' | 'container' | 'host' | 'dockerId'

// Field names of the Kubernetes filter of Fluent Bit, Filebeat (ECS), Vector and OpenTelemetry
// semantic conventions.
const originNames: Readonly<Record<OriginName, readonly string[]>> = {
  namespace: [
    'kubernetes.namespace_name',
    'kubernetes.namespace',
    'kubernetes.pod_namespace',
    'k8s.namespace.name',
    'resource.attributes.k8s.namespace.name',
  ],
  pod: ['kubernetes.pod_name', 'kubernetes.pod.name', 'k8s.pod.name', 'resource.attributes.k8s.pod.name'],
  container: [
    'kubernetes.container_name',
    'kubernetes.container.name',
    'k8s.container.name',
    'resource.attributes.k8s.container.name',
  ],
  host: [
    'kubernetes.host',
    'kubernetes.node.name',
    'kubernetes.pod_node_name',
    'k8s.node.name',
    'resource.attributes.k8s.node.name',
    'host.name',
  ],
  dockerId: [
    'kubernetes.docker_id',
    'kubernetes.container_id',
    'container.id',
    'resource.attributes.container.id',
  ],
}

/** The part of the origin that a name denotes, and its precedence. */
export const meanings = new Map(
  (Object.entries(originNames) as [OriginName, readonly string[]][]).flatMap(([of, names]) =>
    names.map((name, order) => [name, { of, order }] as const),
  ),
)

// Names of the file of a line in shippers.
export const fileNames = ['log.file.path', 'log.file.name', 'filename', 'file', 'path', 'tag', '_flb-key']
// Before the key of a label of the pod.
export const labelPrefixes = [
  'kubernetes.labels.',
  'kubernetes.pod_labels.',
  'k8s.pod.labels.',
  'k8s.pod.label.',
  'resource.attributes.k8s.pod.labels.',
  'resource.attributes.k8s.pod.label.',
]

/** Returns whether a field contains the origin of a line, or its file name. */
export function isOriginName(name: string): boolean {
  return meanings.has(name) || fileNames.includes(name)
}

export function isLabelName(name: string): boolean {
  return labelPrefixes.some(prefix => name.startsWith(prefix))
}

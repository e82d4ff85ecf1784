export type OriginName = 'namespace' | 'pod' | 'container' | 'host' | 'dockerId'

// Where attributes of an OpenTelemetry resource are in a document: the Elasticsearch exporter of the
// Collector nests them, differently by its mapping mode (otel; none and raw).
const resourcePrefixes = ['', 'resource.attributes.', 'Resource.'] as const

const ofResource = (name: string) => resourcePrefixes.map(prefix => prefix + name)

// Field names of the Kubernetes filter of Fluent Bit, Filebeat (ECS), Vector and OpenTelemetry
// semantic conventions.
const originNames: Readonly<Record<OriginName, readonly string[]>> = {
  namespace: [
    ...['kubernetes.namespace_name', 'kubernetes.namespace', 'kubernetes.pod_namespace'],
    ...ofResource('k8s.namespace.name'),
  ],
  pod: ['kubernetes.pod_name', 'kubernetes.pod.name', ...ofResource('k8s.pod.name')],
  container: ['kubernetes.container_name', 'kubernetes.container.name', ...ofResource('k8s.container.name')],
  host: [
    ...['kubernetes.host', 'kubernetes.node.name', 'kubernetes.pod_node_name'],
    ...[...ofResource('k8s.node.name'), ...ofResource('host.name')],
  ],
  dockerId: ['kubernetes.docker_id', 'kubernetes.container_id', ...ofResource('container.id')],
}

/** For each name: the part of the origin that it denotes, and its precedence (0 first). */
export const meanings = new Map(
  (Object.entries(originNames) as [OriginName, readonly string[]][]).flatMap(([of, names]) =>
    names.map((name, order) => [name, { of, order }] as const),
  ),
)

// Field names in which shippers send the log file of a line.
export const fileNames = ['log.file.path', 'log.file.name', 'filename', 'file', 'path', 'tag', '_flb-key']
// Prefixes of field names whose remainder is the key of a pod label.
export const labelPrefixes = [
  ...['kubernetes.labels.', 'kubernetes.pod_labels.'],
  ...[...ofResource('k8s.pod.labels.'), ...ofResource('k8s.pod.label.')],
]

/** Reports whether a field contains a part of the origin or the log file of a line. */
export function isOriginName(name: string): boolean {
  return meanings.has(name) || fileNames.includes(name)
}

export function isLabelName(name: string): boolean {
  return labelPrefixes.some(prefix => name.startsWith(prefix))
}

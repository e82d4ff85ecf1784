import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import type { PodRequestTotals } from '../decorate/pod-request-totals.ts'
import { formatQuantity, parseQuantity, percent, type Quantity } from '../decorate/quantity.ts'
import { type Column, column, type Decoration, type IndexedFields, type Kind } from '../kind.ts'
import { oneOf } from '../list/filters.ts'

// The first ten are the columns of kube-apiserver with the same names; the others are additional.
const columns: readonly Column[] = [
  column('Name', 0, 'Name of the node, unique in the cluster.', 'name'),
  column('Status', 0, 'Whether the node is ready, and whether pods may be scheduled on it.'),
  column('Roles', 0, 'Roles given by the node-role.kubernetes.io labels.'),
  column('Age', 0, 'Time since the node was created.'),
  column('Version', 0, 'Version of the kubelet.'),
  column('Internal-IP', 1, 'First internal address.'),
  column('External-IP', 1, 'First external address.'),
  column('OS-Image', 1, 'Operating system, as the node reports it.'),
  column('Kernel-Version', 1, 'Kernel version and architecture, as the node reports them.'),
  column('Container-Runtime', 1, 'Container runtime and its version.'),
  column('Pods', 1, 'Pods that have not terminated, of the number that the node can run.'),
  column('CPU-Requests', 1, 'CPU requested by pods, of the allocatable CPU.'),
  column('Memory-Requests', 1, 'Memory requested by pods, of the allocatable memory.'),
]

export const nodes: Kind = {
  plural: 'nodes',
  singular: 'node',
  kind: 'Node',
  namespaced: false,
  source: { group: '', version: 'v1', path: '/api/v1/nodes' },
  // No short name: `no` belongs to kube-apiserver, and kubectl warns about duplicates.
  shortNames: [],
  categories: [],
  columns,
  toFields,
  filters: { status: oneOf('status', ['unschedulable', 'warning', 'running']) },
}

/** Returns eight annotations with requests and limits, and the last three cells. */
export function decorateNode(
  fields: IndexedFields,
  usage: PodRequestTotals,
  groupDomain: string,
): Decoration {
  const cpu = parseQuantity(fields.values.cpu)
  const memory = parseQuantity(fields.values.memory)
  const key = (name: string) => `node.${groupDomain}/${name}`
  return {
    annotations: {
      [key('cpu-limits')]: formatQuantity(usage.cpuLimits),
      [key('cpu-limits-fraction')]: `${percent(usage.cpuLimits, cpu)}%`,
      [key('cpu-requests')]: formatQuantity(usage.cpuRequests),
      [key('cpu-requests-fraction')]: `${percent(usage.cpuRequests, cpu)}%`,
      [key('memory-limits')]: formatQuantity(usage.memoryLimits),
      [key('memory-limits-fraction')]: `${percent(usage.memoryLimits, memory)}%`,
      [key('memory-requests')]: formatQuantity(usage.memoryRequests),
      [key('memory-requests-fraction')]: `${percent(usage.memoryRequests, memory)}%`,
    },
    cells: [
      `${usage.pods}/${fields.values.pods || '?'}`,
      share(usage.cpuRequests, cpu),
      share(usage.memoryRequests, memory),
    ],
  }
}

function toFields(object: KubeObject): IndexedFields {
  const spec = fieldsOf(object.spec)
  const status = fieldsOf(object.status)
  const info = fieldsOf(status.nodeInfo)
  const conditions = itemsOf(status.conditions).map(fieldsOf)
  const allocatable = fieldsOf(status.allocatable)
  const isCordoned = spec.unschedulable === true
  return {
    status: isCordoned ? 'unschedulable' : conditions.some(isUnhealthy) ? 'warning' : 'running',
    cells: [
      object.metadata.name,
      readiness(conditions) + (isCordoned ? ',SchedulingDisabled' : ''),
      roles(object.metadata.labels ?? {}),
      { since: object.metadata.creationTimestamp },
      textOf(info.kubeletVersion),
      address(status, 'InternalIP'),
      address(status, 'ExternalIP'),
      textOf(info.osImage) || '<unknown>',
      kernel(info),
      textOf(info.containerRuntimeVersion) || '<unknown>',
    ],
    values: {
      cpu: textOf(allocatable.cpu),
      memory: textOf(allocatable.memory),
      pods: textOf(allocatable.pods),
    },
  }
}

/** Returns whether a condition is unhealthy, for which KubeSphere shows a warning. */
function isUnhealthy(condition: Readonly<Record<string, unknown>>): boolean {
  const healthy = healthyValues.get(textOf(condition.type))
  return healthy !== undefined && condition.status !== healthy
}

const healthyValues = new Map(
  Object.entries({
    MemoryPressure: 'False',
    DiskPressure: 'False',
    PIDPressure: 'False',
    NetworkUnavailable: 'False',
    Ready: 'True',
    ConfigOK: 'True',
    KubeletReady: 'True',
  }),
)

function readiness(conditions: readonly Readonly<Record<string, unknown>>[]): string {
  const ready = conditions.find(condition => condition.type === 'Ready')
  if (ready === undefined) return 'Unknown'
  return ready.status === 'True' ? 'Ready' : 'NotReady'
}

function roles(labels: Readonly<Record<string, string>>): string {
  const found = new Set<string>()
  for (const [key, value] of Object.entries(labels)) {
    const role = key.startsWith('node-role.kubernetes.io/')
      ? key.slice(24)
      : key === 'kubernetes.io/role'
        ? value
        : ''
    if (role !== '') found.add(role)
  }
  return [...found].sort().join(',') || '<none>'
}

function address(status: Readonly<Record<string, unknown>>, type: string): string {
  const found = itemsOf(status.addresses)
    .map(fieldsOf)
    .find(item => item.type === type)
  return textOf(found?.address) || '<none>'
}

/** Returns the kernel version with the architecture, the format since Kubernetes 1.36. */
function kernel(info: Readonly<Record<string, unknown>>): string {
  const version = textOf(info.kernelVersion)
  if (version === '') return '<unknown>'
  const architecture = textOf(info.architecture)
  return architecture === '' ? version : `${version} (${architecture})`
}

function share(part: Quantity, whole: Quantity): string {
  // A node that has not reported yet has no allocatable resources.
  return whole.nano === 0n
    ? `${formatQuantity(part)}/?`
    : `${formatQuantity(part)}/${formatQuantity(whole)} (${percent(part, whole)}%)`
}

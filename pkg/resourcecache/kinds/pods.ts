import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import { toPodRequests } from '../decorate/pod-requests.ts'
import { formatQuantity } from '../decorate/quantity.ts'
import { type Cell, type Column, column, type KindOptions } from '../kind.ts'
import { anyOf, exact, joinValues, oneOf } from '../list/filters.ts'
import { type PodStatus, toPodStatus } from './pod-status.ts'

// The first nine are the columns of kube-apiserver with the same names; the others are additional.
const columns: readonly Column[] = [
  column('Name', 0, 'Name of the pod, unique in its namespace.', 'name'),
  column('Ready', 0, 'Containers that are ready, of all.'),
  column('Status', 0, 'State of the pod, or the reason why it is waiting.'),
  column('Restarts', 0, 'Number of container restarts, and the time since the last one.'),
  column('Age', 0, 'Time since the pod was created.'),
  column('IP', 1, 'Address of the pod.'),
  column('Node', 1, 'Node that the pod runs on.'),
  column('Nominated Node', 1, 'Node on which other pods are preempted for the pod.'),
  column('Readiness Gates', 1, 'Readiness gates whose condition is true, of all.'),
  column('CPU-Requests', 1, 'CPU that the pod requests.'),
  column('Memory-Requests', 1, 'Memory that the pod requests.'),
  column('Owner', 1, 'Owner of the pod.'),
]

type Members = Readonly<Record<string, unknown>>

export const pods: KindOptions = {
  columns,
  toFields(pod) {
    const spec = fieldsOf(pod.spec)
    const shown = toPodStatus(pod)
    return {
      status: statusWord(pod, shown),
      cells: toCells(pod, shown),
      values: {
        phase: textOf(fieldsOf(pod.status).phase),
        nodeName: textOf(spec.nodeName),
        pvcs: joinValues(claimsOf(pod)),
      },
    }
  },
  filters: {
    status: oneOf('status', ['Running', 'Error', 'Completed', 'Waiting']),
    phase: exact('phase'),
    nodeName: exact('nodeName'),
    pvcName: anyOf('pvcs'),
  },
}

function toCells(pod: KubeObject, shown: PodStatus): readonly Cell[] {
  const { metadata } = pod
  const spec = fieldsOf(pod.spec)
  const status = fieldsOf(pod.status)
  const requests = toPodRequests(pod)
  const owner = metadata.ownerReferences?.[0]
  const address = itemsOf(status.podIPs).map(item => textOf(fieldsOf(item).ip))[0] || textOf(status.podIP)
  return [
    metadata.name,
    `${shown.ready}/${shown.containers}`,
    shown.reason,
    { text: String(shown.restarts), ago: shown.restartedAt },
    { since: metadata.creationTimestamp },
    address || '<none>',
    textOf(spec.nodeName) || '<none>',
    textOf(status.nominatedNodeName) || '<none>',
    readinessGates(spec, status),
    requests ? formatQuantity(requests.cpuRequests) : '<none>',
    requests ? formatQuantity(requests.memoryRequests) : '<none>',
    owner === undefined ? '<none>' : `${owner.kind}/${owner.name}`,
  ]
}

function readinessGates(spec: Members, status: Members): string {
  const gates = itemsOf(spec.readinessGates).map(gate => textOf(fieldsOf(gate).conditionType))
  if (gates.length === 0) return '<none>'
  const open = new Set(
    itemsOf(status.conditions)
      .map(fieldsOf)
      .filter(condition => condition.status === 'True')
      .map(condition => textOf(condition.type)),
  )
  return `${gates.filter(gate => open.has(gate)).length}/${gates.length}`
}

/** Returns the names of the claims that a pod mounts, including those of its ephemeral volumes. */
export function claimsOf(pod: KubeObject): readonly string[] {
  return itemsOf(fieldsOf(pod.spec).volumes)
    .map(fieldsOf)
    .map(volume =>
      volume.ephemeral === undefined
        ? textOf(fieldsOf(volume.persistentVolumeClaim).claimName)
        : `${pod.metadata.name}-${textOf(volume.name)}`,
    )
    .filter(name => name !== '')
}

/** Returns one of the four statuses of the platform API, for kubectl's many. */
function statusWord(pod: KubeObject, { reason }: PodStatus): string {
  if (reason === 'Running' || reason === 'Completed') return reason
  if (reason === 'Failed' || reason === 'Error' || reason.startsWith('OutOf')) return 'Error'
  if (reason !== 'Succeeded') return 'Waiting'
  const ready = itemsOf(fieldsOf(pod.status).conditions)
    .map(fieldsOf)
    .filter(({ type }) => type === 'Ready')
  return ready.every(condition => condition.reason === 'PodCompleted') ? 'Completed' : 'Waiting'
}

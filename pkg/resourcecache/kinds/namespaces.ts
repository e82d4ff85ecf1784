import { membersOf, textOf } from '../../kubeclient/object/object.ts'
import type { PodRequestTotals } from '../decorate/pod-request-totals.ts'
import { formatQuantity } from '../decorate/quantity.ts'
import { column, type Decoration, integerColumn, type KindOptions } from '../kind.ts'
import { exact } from '../list/filters.ts'

/** The columns of kube-apiserver, followed by the workspace and the requests of pods. */
export const namespaces = (groupDomain: string): KindOptions => ({
  columns: [
    column('Name', 0, 'Name of the namespace, unique in the cluster.', 'name'),
    column('Status', 0, 'Active, or Terminating while it is being emptied.'),
    column('Age', 0, 'Time since the namespace was created.'),
    column('Workspace', 1, 'Workspace that the namespace belongs to.'),
    integerColumn('Pods', 1, 'Pods on nodes that have not terminated.'),
    column('CPU-Requests', 1, 'Total CPU requests of these pods.'),
    column('Memory-Requests', 1, 'Total memory requests of these pods.'),
  ],
  toFields({ metadata, status }) {
    const phase = textOf(membersOf(status).phase)
    const workspace = metadata.labels?.[`${groupDomain}/workspace`] ?? ''
    return {
      status: phase,
      cells: [metadata.name, phase, { since: metadata.creationTimestamp }, workspace || '<none>'],
      values: { phase, workspace },
    }
  },
  filters: { status: exact('phase'), workspace: exact('workspace') },
})

export function decorateNamespace({ pods, cpuRequests, memoryRequests }: PodRequestTotals): Decoration {
  return { annotations: {}, cells: [pods, formatQuantity(cpuRequests), formatQuantity(memoryRequests)] }
}

import { itemsOf, type KubeObject, membersOf, textOf } from '../../kube/object.ts'
import { anyOf, exact, joinValues, oneOf } from '../filters.ts'
import type { Traits } from '../kind.ts'
import { type PodStatus, toPodStatus } from './pod-status.ts'

export const pods: Traits = {
  toFacts(pod) {
    const spec = membersOf(pod.spec)
    const shown = toPodStatus(pod)
    return {
      status: statusWord(pod, shown),
      cells: [],
      values: {
        phase: textOf(membersOf(pod.status).phase),
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

/** Names of the claims that a pod mounts, those made for it (ephemeral volumes) included. */
export function claimsOf(pod: KubeObject): readonly string[] {
  return itemsOf(membersOf(pod.spec).volumes)
    .map(membersOf)
    .map(volume =>
      volume.ephemeral === undefined
        ? textOf(membersOf(volume.persistentVolumeClaim).claimName)
        : `${pod.metadata.name}-${textOf(volume.name)}`,
    )
    .filter(name => name !== '')
}

/** The platform's four words for what kubectl's STATUS column says in many. */
function statusWord(pod: KubeObject, { reason }: PodStatus): string {
  if (reason === 'Running' || reason === 'Completed') return reason
  if (reason === 'Failed' || reason === 'Error' || reason.startsWith('OutOf')) return 'Error'
  if (reason !== 'Succeeded') return 'Waiting'
  const ready = itemsOf(membersOf(pod.status).conditions)
    .map(membersOf)
    .filter(({ type }) => type === 'Ready')
  return ready.every(condition => condition.reason === 'PodCompleted') ? 'Completed' : 'Waiting'
}

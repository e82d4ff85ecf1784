import type { KubeObject } from '../../kubeclient/object/object.ts'
import type { WatchEvent } from '../../kubeclient/watch/watch.ts'
import type { SharedWatchOptions } from '../informer/shared-watch.ts'
import { type PodRequests, toPodRequests } from './pod-requests.ts'
import { add, type Quantity, subtract, zero } from './quantity.ts'

/** The sum of resource requests of all pods of a node. */
export type PodRequestTotals = {
  readonly pods: number
  readonly cpuRequests: Quantity
  readonly cpuLimits: Quantity
  readonly memoryRequests: Quantity
  readonly memoryLimits: Quantity
}

export const noRequests: PodRequestTotals = Object.freeze({
  pods: 0,
  cpuRequests: zero,
  cpuLimits: zero,
  memoryRequests: zero,
  memoryLimits: zero,
})

const amounts = ['cpuRequests', 'cpuLimits', 'memoryRequests', 'memoryLimits'] as const

export type PodRequestIndex = {
  readonly of: (node: string) => PodRequestTotals
  readonly handler: SharedWatchOptions['handler']
}

/**
 * Maintains the sums as pods change. Only the summed values of a pod are stored.
 *
 * @param changed called once per batch of events with the nodes whose sums have changed
 */
export function createPodRequestIndex(changed: (nodes: ReadonlySet<string>) => void): PodRequestIndex {
  const pods = new Map<string, PodRequests>()
  const usage = new Map<string, PodRequestTotals>()

  function set(pod: KubeObject, next: PodRequests | undefined, touched: Set<string>): void {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`
    const last = pods.get(key)
    if (isSame(last, next)) return
    if (last) {
      shift(usage, last, -1)
      touched.add(last.node)
    }
    if (next) {
      shift(usage, next, 1)
      touched.add(next.node)
      pods.set(key, next)
    } else {
      pods.delete(key)
    }
  }

  return {
    of: node => usage.get(node) ?? noRequests,
    handler: {
      replace(items) {
        const touched = new Set(usage.keys())
        pods.clear()
        usage.clear()
        for (const pod of items) set(pod, toPodRequests(pod), touched)
        changed(touched)
      },
      apply(events: readonly WatchEvent[]) {
        const touched = new Set<string>()
        for (const { type, object } of events) {
          if (type !== 'BOOKMARK')
            set(object, type === 'DELETED' ? undefined : toPodRequests(object), touched)
        }
        if (touched.size > 0) changed(touched)
      },
    },
  }
}

function shift(usage: Map<string, PodRequestTotals>, pod: PodRequests, sign: 1 | -1): void {
  const now = usage.get(pod.node) ?? noRequests
  const move = sign === 1 ? add : subtract
  const pods = now.pods + sign
  if (pods === 0) {
    usage.delete(pod.node)
    return
  }
  usage.set(pod.node, {
    pods,
    cpuRequests: move(now.cpuRequests, pod.cpuRequests),
    cpuLimits: move(now.cpuLimits, pod.cpuLimits),
    memoryRequests: move(now.memoryRequests, pod.memoryRequests),
    memoryLimits: move(now.memoryLimits, pod.memoryLimits),
  })
}

/** Returns whether an update changes no summed value, as most status updates. */
function isSame(a: PodRequests | undefined, b: PodRequests | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.node === b.node && amounts.every(amount => a[amount].nano === b[amount].nano)
}

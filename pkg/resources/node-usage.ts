import type { KubeObject } from '../kube/object.ts'
import type { ReflectorSink } from '../kube/reflector.ts'
import type { WatchEvent } from '../kube/watch.ts'
import { type PodRequests, toPodRequests } from './pod-requests.ts'
import { add, type Quantity, subtract, zero } from './quantity.ts'

/** What the pods of one node ask for together. */
export type NodeUsage = {
  readonly pods: number
  readonly cpuRequests: Quantity
  readonly cpuLimits: Quantity
  readonly memoryRequests: Quantity
  readonly memoryLimits: Quantity
}

export const noUsage: NodeUsage = Object.freeze({
  pods: 0,
  cpuRequests: zero,
  cpuLimits: zero,
  memoryRequests: zero,
  memoryLimits: zero,
})

const amounts = ['cpuRequests', 'cpuLimits', 'memoryRequests', 'memoryLimits'] as const

export type NodeUsageIndex = {
  readonly of: (node: string) => NodeUsage
  readonly sink: ReflectorSink
}

/**
 * Keeps the sums per node as pods come and go; of a pod only these few figures are kept.
 *
 * @param changed told the nodes whose sums moved, once for all events that arrived together
 */
export function createNodeUsageIndex(changed: (nodes: ReadonlySet<string>) => void): NodeUsageIndex {
  const pods = new Map<string, PodRequests>()
  const usage = new Map<string, NodeUsage>()

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
    of: node => usage.get(node) ?? noUsage,
    sink: {
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

function shift(usage: Map<string, NodeUsage>, pod: PodRequests, sign: 1 | -1): void {
  const now = usage.get(pod.node) ?? noUsage
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

/** Most pod updates are status heartbeats that change none of this. */
function isSame(a: PodRequests | undefined, b: PodRequests | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.node === b.node && amounts.every(amount => a[amount].nano === b[amount].nano)
}

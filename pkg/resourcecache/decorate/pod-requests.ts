import { fieldsOf, itemsOf, type KubeObject } from '../../kubeclient/object/object.ts'
import { add, larger, parseQuantity, type Quantity, zero } from './quantity.ts'

export type PodRequests = {
  readonly node: string
  readonly cpuRequests: Quantity
  readonly cpuLimits: Quantity
  readonly memoryRequests: Quantity
  readonly memoryLimits: Quantity
}

/**
 * Returns the node of a pod and its resource requests, by the rules of kubectl and the scheduler.
 * These are pod-level resources if set. Otherwise they are the sum of containers and sidecars, or
 * the largest init container if that is more. Overhead is added (KEP-688, KEP-753, KEP-2837).
 * Undefined for a pod without a node, or one that has terminated.
 */
export function toPodRequests(pod: KubeObject): PodRequests | undefined {
  const spec = fieldsOf(pod.spec)
  const phase = fieldsOf(pod.status).phase
  const node = spec.nodeName
  if (typeof node !== 'string' || node === '' || phase === 'Succeeded' || phase === 'Failed') return undefined
  return {
    node,
    cpuRequests: total(spec, 'requests', 'cpu'),
    cpuLimits: total(spec, 'limits', 'cpu'),
    memoryRequests: total(spec, 'requests', 'memory'),
    memoryLimits: total(spec, 'limits', 'memory'),
  }
}

function total(
  spec: Readonly<Record<string, unknown>>,
  list: 'requests' | 'limits',
  resource: string,
): Quantity {
  const podLevel = fieldsOf(fieldsOf(spec.resources)[list])[resource]
  const sum = podLevel === undefined ? containersTotal(spec, list, resource) : parseQuantity(podLevel)
  // Overhead is only added to an existing limit: a pod without a limit remains unlimited.
  if (list === 'limits' && sum.nano === 0n) return sum
  return add(sum, parseQuantity(fieldsOf(spec.overhead)[resource]))
}

function containersTotal(spec: Readonly<Record<string, unknown>>, list: string, resource: string): Quantity {
  const amount = (container: unknown) =>
    parseQuantity(fieldsOf(fieldsOf(fieldsOf(container).resources)[list])[resource])
  let running = zero
  for (const container of itemsOf(spec.containers)) running = add(running, amount(container))
  let sidecars = zero
  let starting = zero
  for (const container of itemsOf(spec.initContainers)) {
    const own = amount(container)
    if (fieldsOf(container).restartPolicy === 'Always') {
      sidecars = add(sidecars, own)
      starting = larger(starting, sidecars)
    } else {
      starting = larger(starting, add(own, sidecars))
    }
  }
  return larger(add(running, sidecars), starting)
}

import { fieldsOf, textOf } from '../../../kubeclient/object/object.ts'
import { formatQuantity, parseQuantity, subtract } from '../../../resourcecache/decorate/quantity.ts'
import type { ObjectStore } from '../../../resourcecache/store/store.ts'

type Amounts = Readonly<Record<string, string>>

export type Quotas = {
  readonly hard: Amounts
  readonly used: Amounts
  /** The remaining amount of each limit of a namespace, at least 0. */
  readonly left?: Amounts
}

/** The counted resources, by their names in a ResourceQuota. */
const counted: readonly (readonly [key: string, plural: string])[] = [
  ['count/pods', 'pods'],
  ['count/services', 'services'],
  ['count/configmaps', 'configmaps'],
  ['count/secrets', 'secrets'],
  ['persistentvolumeclaims', 'persistentvolumeclaims'],
  ['count/deployments.apps', 'deployments'],
  ['count/statefulsets.apps', 'statefulsets'],
  ['count/daemonsets.apps', 'daemonsets'],
  ['count/jobs.batch', 'jobs'],
  ['count/cronjobs.batch', 'cronjobs'],
  ['count/ingresses.networking.k8s.io', 'ingresses'],
  // The key that the console of KubeSphere 3.4 reads, of the group that Kubernetes has removed.
  ['count/ingresses.extensions', 'ingresses'],
]

/**
 * Counts the objects of a namespace (or, with '', of the cluster), with the limits of its
 * ResourceQuotas. If several limit the same resource, the lowest limit and its usage are returned.
 *
 * @throws Status 503
 */
export async function readQuotas(
  storeOf: (plural: string) => Promise<ObjectStore>,
  namespace: string,
): Promise<Quotas> {
  const used = new Map<string, string>()
  const stores = await Promise.all(
    counted.map(async ([key, plural]) => ({ key, store: await storeOf(plural) })),
  )
  for (const { key, store } of stores) used.set(key, String(countIn(store, namespace)))
  if (namespace === '') return { hard: {}, used: Object.fromEntries(used) }

  const hard = new Map<string, string>()
  const quotas = await storeOf('resourcequotas')
  for (const entry of quotas.entries()) {
    if (entry.namespace !== namespace) continue
    const status = fieldsOf(entry.parsed().status)
    const uses = fieldsOf(status.used)
    for (const [key, value] of Object.entries(fieldsOf(status.hard))) {
      const limit = textOf(value)
      const known = hard.get(key)
      if (known !== undefined && parseQuantity(known).nano <= parseQuantity(limit).nano) continue
      hard.set(key, limit)
      used.set(key, textOf(uses[key]) || '0')
    }
  }
  const left = [...hard].map(([key, limit]) => [key, leftOf(limit, used.get(key) ?? '0')] as const)
  return { hard: Object.fromEntries(hard), used: Object.fromEntries(used), left: Object.fromEntries(left) }
}

function leftOf(limit: string, used: string): string {
  const left = subtract(parseQuantity(limit), parseQuantity(used))
  return left.nano <= 0n ? '0' : formatQuantity(left)
}

function countIn(store: ObjectStore, namespace: string): number {
  if (namespace === '') return store.size
  let count = 0
  for (const entry of store.entries()) if (entry.namespace === namespace) count++
  return count
}

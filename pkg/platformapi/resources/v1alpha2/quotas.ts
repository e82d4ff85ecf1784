import { membersOf, textOf } from '../../../kubeclient/object/object.ts'
import { parseQuantity } from '../../../resourcecache/decorate/quantity.ts'
import type { ObjectStore } from '../../../resourcecache/store/store.ts'

export type Quotas = {
  readonly hard: Readonly<Record<string, string>>
  readonly used: Readonly<Record<string, string>>
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
    const status = membersOf(entry.parsed().status)
    const uses = membersOf(status.used)
    for (const [key, value] of Object.entries(membersOf(status.hard))) {
      const limit = textOf(value)
      const known = hard.get(key)
      if (known !== undefined && parseQuantity(known).nano <= parseQuantity(limit).nano) continue
      hard.set(key, limit)
      used.set(key, textOf(uses[key]) || '0')
    }
  }
  return { hard: Object.fromEntries(hard), used: Object.fromEntries(used) }
}

function countIn(store: ObjectStore, namespace: string): number {
  if (namespace === '') return store.size
  let count = 0
  for (const entry of store.entries()) if (entry.namespace === namespace) count++
  return count
}

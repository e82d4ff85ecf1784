import type { ObjectStore } from '../../../resourcecache/store/store.ts'

/** The status values (pkg/resourcecache/kinds) that are abnormal, in lower case, by plural. */
const abnormal: readonly (readonly [plural: string, words: readonly string[]])[] = [
  ['deployments', ['updating']],
  ['statefulsets', ['updating']],
  ['daemonsets', ['updating']],
  ['persistentvolumeclaims', ['pending', 'lost']],
  ['jobs', ['failed']],
]

/** Counts unhealthy workloads and claims by plural in a namespace or all. @throws Status 503 */
export async function countAbnormal(
  storeOf: (plural: string) => Promise<ObjectStore>,
  namespace: string,
): Promise<Readonly<Record<string, number>>> {
  const counts = abnormal.map(async ([plural, words]) => {
    const store = await storeOf(plural)
    return [plural, countIn(store, words, namespace)] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

function countIn(store: ObjectStore, words: readonly string[], namespace: string): number {
  let count = 0
  for (const entry of store.entries()) {
    if (namespace !== '' && entry.namespace !== namespace) continue
    // The phase of a PersistentVolumeClaim is capitalized by Kubernetes.
    if (words.includes(entry.fields.status.toLowerCase())) count++
  }
  return count
}

import type { ListQuery } from '../../apirequest/query/list-query.ts'
import { fieldsOf, isRecord } from '../../kubeclient/object/object.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'

/**
 * Filters pods by Service (`serviceName=`): those in its namespace that its current selector
 * matches. A Service without a selector has no pods. A list over all namespaces includes the pods
 * of all Services with this name.
 */
export function podsOfService(
  services: ObjectStore,
  query: ListQuery,
  namespace: string,
): { query: ListQuery; narrowing: ListRestriction } {
  const filters = new Map(query.filters)
  const serviceName = filters.get('serviceName') ?? ''
  filters.delete('serviceName')
  const selectors = new Map<string, readonly [string, string][]>()
  for (const entry of services.entries()) {
    if (entry.name !== serviceName || (namespace !== '' && entry.namespace !== namespace)) continue
    const { selector } = fieldsOf(entry.parsed().spec)
    const pairs = Object.entries(isRecord(selector) ? selector : {}).map(([key, value]): [string, string] => [
      key,
      String(value),
    ])
    if (pairs.length > 0) selectors.set(entry.namespace, pairs.sort())
  }
  return {
    query: { ...query, filters },
    narrowing: {
      key: `service ${JSON.stringify([serviceName, ...[...selectors].sort()])}`,
      matches: pod => {
        const labels = pod.meta.labels ?? {}
        return selectors.get(pod.namespace)?.every(([key, value]) => labels[key] === value) === true
      },
    },
  }
}

import type { ResourceCache } from '../../../resourcecache/informer/resource-cache.ts'
import type { ObjectStore } from '../../../resourcecache/store/store.ts'
import { type Gauge, gauge, type Registry } from '../../../telemetry/metrics.ts'

export function observeCache(registry: Registry, cache: Pick<ResourceCache, 'stores'>): void {
  // The metric is reset on each collection: kinds that are no longer cached must disappear.
  const byResource = (read: (store: ObjectStore) => number) => (metric: Gauge<'group' | 'resource'>) => {
    metric.reset()
    for (const store of cache.stores()) {
      const { source, plural } = store.served.kind
      metric.set({ group: source.group, resource: plural }, read(store))
    }
  }
  gauge(registry, {
    name: 'kapis_cache_objects',
    help: 'Cached objects, by resource.',
    labels: ['group', 'resource'],
    collect: byResource(({ size }) => size),
  })
  gauge(registry, {
    name: 'kapis_cache_bytes',
    help: 'Estimated memory of the cached objects in bytes, by resource.',
    labels: ['group', 'resource'],
    collect: byResource(({ bytes }) => bytes),
  })
}

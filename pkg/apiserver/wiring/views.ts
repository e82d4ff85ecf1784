import { unavailable } from '../../apierrors/status.ts'
import type { RoleTools } from '../../platformapi/iam/v1alpha2/roles-serve.ts'
import { type ReadTools, readCollection } from '../../platformapi/read-collection.ts'
import { waitForLatest } from '../../resourcecache/informer/wait-for-resource-version.ts'
import { plain, users } from '../../resourcecache/kinds/platform.ts'
import { ObjectStore } from '../../resourcecache/store/store.ts'

/**
 * Reads of objects that are made of those of kube-apiserver for one request: they have the pages, filters and order of all lists, and
 * cannot be watched.
 *
 * @param byPlural the collection that a plural means; undefined for one that kube-apiserver does not serve
 */
export function createViews(
  tools: ReadTools,
  byPlural: (plural: string) => ObjectStore | undefined | Promise<ObjectStore | undefined>,
): Pick<RoleTools, 'latest' | 'show'> {
  return {
    async latest(plural) {
      const store = await byPlural(plural)
      if (store === undefined) throw unavailable(`${plural} cannot be read yet; retry later`)
      await waitForLatest(store)
      return store
    },
    async show(exchange, { plural, kind, namespaced, group, version }, items) {
      const singular = kind.toLowerCase()
      const served = {
        kind: {
          ...(kind === 'User' ? users : plain),
          ...{ plural, singular, kind, namespaced, shortNames: [], categories: [], columns: [] },
          source: { group, version, path: `/apis/${group}/${version}/${plural}` },
          isListedOnly: true,
        },
        group,
        version,
      } as const
      const store = new ObjectStore(served)
      const sources = items.map(item => JSON.stringify(item))
      store.replace(items, '0', sources)
      store.end()
      await readCollection(store, { ...tools, isConsistent: () => false }, exchange, { list: 'items' })
    },
  }
}

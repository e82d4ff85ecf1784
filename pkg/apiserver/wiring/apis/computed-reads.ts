import { unavailable } from '../../../apierrors/status.ts'
import type { RoleTools } from '../../../platformapi/iam/v1alpha2/roles/role-routes.ts'
import { readCollection } from '../../../platformapi/read/read-collection.ts'
import type { ReadTools } from '../../../platformapi/read/read-tools.ts'
import { waitForLatest } from '../../../resourcecache/informer/wait-for-resource-version.ts'
import { plain } from '../../../resourcecache/kinds/platform.ts'
import { ObjectStore } from '../../../resourcecache/store/store.ts'

/**
 * Serves objects that are computed for one request from Kubernetes objects. They have the paging,
 * filters and sorting of all lists, but no watch.
 *
 * @param byPlural returns the store of a plural; undefined if kube-apiserver does not serve it
 */
export function createComputedReads(
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
    async show(
      exchange,
      { plural, kind, namespaced, group, version, traits = plain, list = 'items' },
      items,
    ) {
      const singular = kind.toLowerCase()
      const served = {
        kind: {
          ...traits,
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
      await readCollection(store, { ...tools, isConsistent: () => false }, exchange, { list })
    },
  }
}

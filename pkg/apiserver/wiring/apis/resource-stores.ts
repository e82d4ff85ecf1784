import type { Config } from '../../../config/config.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { createDiscoveryCache, type DiscoveryCache } from '../../../resourcecache/informer/discovery-cache.ts'
import { ResourceCache } from '../../../resourcecache/informer/resource-cache.ts'
import type { Kind } from '../../../resourcecache/kind.ts'
import { resourcesGroup, resourcesVersion, toAggregatedKinds } from '../../../resourcecache/kinds.ts'
import { listUncached } from '../../../resourcecache/list/uncached-list.ts'
import type { ObjectStore } from '../../../resourcecache/store/store.ts'
import type { Logger } from '../../../telemetry/logger.ts'

type FoundStore = ObjectStore | undefined | Promise<ObjectStore | undefined>

/** Finds the store of a kind. Kinds that are not always cached are listed or cached on demand. */
export type ResourceStores = {
  readonly cache: ResourceCache
  readonly discovery: DiscoveryCache
  /** The kinds that the extension API declares. */
  readonly ownKind: (plural: string) => Kind | undefined
  /** Returns the store of a kind; undefined without a kind. */
  readonly obtain: (kind: Kind | undefined) => Promise<ObjectStore> | undefined
  /** Returns the store of a kind of the extension API by its plural. */
  readonly storeOf: (plural: string) => FoundStore
  /** Returns the store of a kind of the extension API that always exists. */
  readonly ownStore: (plural: string) => Promise<ObjectStore>
  /** Returns the store of any kind by its plural; undefined if kube-apiserver does not serve it. */
  readonly byPlural: (plural: string) => FoundStore
}

export function createResourceStores(parts: {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly live: () => Config
  readonly logger: Logger
}): ResourceStores {
  const { client, groupDomain, live, logger } = parts
  const ownKinds = toAggregatedKinds(groupDomain)
  const discovery = createDiscoveryCache({ client, groupDomain })
  const cache = new ResourceCache({ client, discovery, groupDomain, logger, limits: () => live().cache })

  const ownKind = (plural: string) => ownKinds.find(kind => kind.plural === plural)
  const obtain = (kind: Kind | undefined) => {
    if (!kind?.isListedOnly) return kind && cache.obtain(kind)
    return listUncached(client, { kind, group: resourcesGroup(groupDomain), version: resourcesVersion })
  }
  const storeOf = (plural: string) => cache.store(plural) ?? obtain(ownKind(plural))
  return {
    ...{ cache, discovery, ownKind, obtain, storeOf },
    async ownStore(plural) {
      const store = await storeOf(plural)
      if (store === undefined) throw new Error(`the extension API does not serve ${plural}`)
      return store
    },
    byPlural: plural => storeOf(plural) ?? discovery.findByPlural(plural).then(obtain),
  }
}

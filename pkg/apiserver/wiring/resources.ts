import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { unavailable, unknownResource } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import type { NarrowedLists } from '../../authz/narrowed-lists.ts'
import type { GrantIndex } from '../../authz/rbac-index.ts'
import { createVisibility, type FindVisible } from '../../authz/visibility.ts'
import type { Config } from '../../config/config.ts'
import { accessKinds } from '../../extensionapi/access/access-kinds.ts'
import { accessSchemas } from '../../extensionapi/access/access-schemas.ts'
import { createDiscovery } from '../../extensionapi/discovery/discovery.ts'
import { createKindSchemas } from '../../extensionapi/openapi/kind-schemas.ts'
import { createOpenApi } from '../../extensionapi/openapi/openapi.ts'
import { serveRead } from '../../extensionapi/read/read.ts'
import { createRegistryClient } from '../../imageregistry/client.ts'
import { createConnect } from '../../imageregistry/connect.ts'
import { parseExactly } from '../../json/parse-exactly.ts'
import { type KubeClient, readText } from '../../kubeclient/client.ts'
import { retryUntilSuccess } from '../../kubeclient/retry.ts'
import { isForComponents } from '../../platformapi/components.ts'
import { serveAny, toNativePath } from '../../platformapi/generic-resources.ts'
import type { RoleTools } from '../../platformapi/iam/v1alpha2/roles/role-routes.ts'
import { describeOutOfScope } from '../../platformapi/out-of-scope.ts'
import { type ReadStyle, readCollection } from '../../platformapi/read-collection.ts'
import { isForRegistries } from '../../platformapi/registries.ts'
import { isOwnKubeconfig } from '../../platformapi/resources/v1alpha2/kubeconfig.ts'
import { serveOldResources } from '../../platformapi/resources/v1alpha2/serve.ts'
import { createNativeKinds } from '../../platformapi/resources/v1alpha3/native-kind.ts'
import { serveResources } from '../../platformapi/resources/v1alpha3/read.ts'
import type { WorkspaceTools } from '../../platformapi/workspaces/workspace-tools.ts'
import { createDiscoveryCache } from '../../resourcecache/informer/discovery-cache.ts'
import { ResourceCache } from '../../resourcecache/informer/resource-cache.ts'
import { waitForLatest } from '../../resourcecache/informer/wait-for-resource-version.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import { resourcesGroup, resourcesVersion, toAggregatedKinds } from '../../resourcecache/kinds.ts'
import { PageCache } from '../../resourcecache/list/page-cache.ts'
import { listUncached } from '../../resourcecache/list/uncached-list.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import { createUserTimeSlices } from '../../scheduling/time-slices.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { type Gauge, gauge, type Registry } from '../../telemetry/metrics.ts'
import type { Check } from '../health/probes.ts'
import type { DocumentRoute } from './router.ts'
import { createViews } from './views.ts'

export type Resources = {
  /** `/apis/resources.<group domain>/v1alpha3` */
  readonly aggregated: Handler
  /** `/kapis/resources.<group domain>/v1alpha3` */
  readonly platform: Handler
  /** `/kapis/resources.<group domain>/v1alpha2` */
  readonly v1alpha2: Handler
  /** `/kapis/{group}/{version}` without a handler of its own. */
  readonly generic: Handler
  /** The same reads with lists as `{items, totalItems}`. */
  readonly items: (exchange: AuthenticatedExchange, how?: Pick<ReadStyle, 'form' | 'narrow'>) => Promise<void>
  /** Reads of namespaces and workspaces at other paths, as `platform` answers them. */
  /** Reads of objects that are computed from Kubernetes objects. */
  readonly views: Pick<RoleTools, 'latest' | 'show'>
  readonly narrowed: Pick<WorkspaceTools, 'read' | 'isVisible'> & { readonly visible: FindVisible }
  readonly documents: readonly DocumentRoute[]
  /**
   * Returns whether the handler applies the selectors of a request: only then may they affect
   * authorization.
   */
  readonly selects: (info: RequestInfo) => boolean
  /** Paths that need no RBAC permission: the caller's own kubeconfig. */
  readonly isOwn: (exchange: AuthenticatedExchange) => boolean
  /**
   * Returns the attributes to authorize a request with, if they differ from its path.
   *
   * @throws Status 503
   */
  readonly attributesOf: (exchange: AuthenticatedExchange) => Promise<RequestInfo> | undefined
  readonly isAggregated: (plural: string) => boolean
  /**
   * Whether the kind that a request was authorized for is namespaced; false for an unknown one.
   *
   * @throws Status 503
   */
  readonly isNamespaced: (exchange: AuthenticatedExchange) => Promise<boolean>
  readonly checks: readonly Check[]
  /** Follows a kind for another part of the program (ResourceCache). */
  readonly watch: ResourceCache['watch']
  /** Resolves when the kinds that are always cached have synced. */
  readonly start: () => Promise<void>
  readonly stop: () => void
}

export type ResourcesOptions = {
  readonly client: KubeClient
  readonly config: Config
  readonly live: () => Config
  readonly logger: Logger
  readonly registry: Registry
  readonly broadcaster: WatchBroadcaster
  /** The namespaces in which role bindings grant any permission. */
  readonly grants: GrantIndex
  /** Calls back when a cluster-wide grant may have changed. */
  readonly onClusterChange: (listener: () => void) => void
  /** What the caller of a narrowed list may see; undefined for all other requests. */
  readonly narrowedTo: NarrowedLists['of']
  /** Reviews of access, which are created in the same group. */
  readonly reviews: Handler
  /** To kube-apiserver itself, as the caller. */
  readonly proxy: Handler
  /** The CA of the issuer URL for clients; undefined if Kapis did not issue the certificate. */
  readonly caPem: () => string | undefined
  readonly isUser: (name: string) => boolean
  /** Authorizes reading a Secret. @throws Status 403 */
  readonly authorizeSecretRead: (identity: Identity, namespace: string, name: string) => Promise<void>
  /** Authorizes reading a Service; '' for one in any namespace. @throws Status 403 */
  readonly authorizeServiceRead: (identity: Identity, namespace: string, name: string) => Promise<void>
}

// Limits all requests to registries for one request of a caller.
const registryMs = 30_000

/** Wires the resource cache to the handlers that serve it. */
export function createResources(options: ResourcesOptions): Resources {
  const { client, config, live, logger, registry, broadcaster, grants, reviews, proxy, caPem, isUser } =
    options
  const { authorizeSecretRead: maySecret, authorizeServiceRead: mayService, onClusterChange } = options
  const { groupDomain } = config
  const aggregatedKinds = toAggregatedKinds(groupDomain)
  const discovery = createDiscoveryCache({ client, groupDomain })
  const cache = new ResourceCache({
    client,
    discovery,
    groupDomain,
    logger,
    limits: () => live().cache,
  })

  const obtain = (kind: Kind | undefined) => {
    if (!kind?.isListedOnly) return kind && cache.obtain(kind)
    return listUncached(client, { kind, group: resourcesGroup(groupDomain), version: resourcesVersion })
  }
  const storeOf = (plural: string) =>
    cache.store(plural) ?? obtain(aggregatedKinds.find(kind => kind.plural === plural))
  async function followed(plural: string): Promise<ObjectStore> {
    const store = await storeOf(plural)
    if (store === undefined) throw new Error(`the extension API has no ${plural}`)
    return store
  }
  const visible = createVisibility({
    client,
    groupDomain,
    index: grants,
    onClusterChange,
    namespaces: () => followed('namespaces'),
  })
  const isConsistent = ({ prefix }: RequestInfo) =>
    prefix !== 'kapis' || live().cache.platformReads === 'consistent'
  const tools = {
    groupDomain,
    pages: new PageCache(),
    timeSlices: createUserTimeSlices(),
    broadcaster,
    visible,
    isConsistent,
    narrowed: options.narrowedTo,
  }
  const groups = [
    {
      group: resourcesGroup(groupDomain),
      version: resourcesVersion,
      resources: [...aggregatedKinds, ...accessKinds],
      schemas: accessSchemas,
    },
  ]
  const stopped = new AbortController()
  const kindSchemas = createKindSchemas({
    kinds: aggregatedKinds,
    read: async path => parseExactly(await readText(client, { path })),
  })
  const aggregated = { ...tools, storeOf }
  const byPlural = (plural: string) => storeOf(plural) ?? discovery.findByPlural(plural).then(obtain)
  const components = {
    groupDomain,
    namespace: config.kubernetes.namespace,
    async storeOf(info: RequestInfo, plural: string) {
      const store = await byPlural(plural)
      if (store === undefined) throw unknownResource(`kube-apiserver does not serve ${plural}`)
      if (isConsistent(info)) await waitForLatest(store)
      return store
    },
  }
  const { caFile, trustedHosts } = config.registries
  const connection = createConnect({
    caPem: caFile === '' ? undefined : `${rootCertificates.join('\n')}\n${readFileSync(caFile, 'utf8')}`,
    trustedHosts,
  })
  const registries = {
    client,
    registry: createRegistryClient(connection.connect, () => AbortSignal.timeout(registryMs)),
    maySecret,
  }
  const old = {
    ...components,
    kubeconfig: { groupDomain, url: new URL(config.oauth.issuer), caPem, isUser },
  }
  const isAggregated = (plural: string) => aggregatedKinds.some(kind => kind.plural === plural)
  const isReview = (plural: string) => accessKinds.some(kind => kind.plural === plural)
  const nativeKinds = createNativeKinds({
    group: resourcesGroup(groupDomain),
    version: resourcesVersion,
    isDeclared: isAggregated,
    find: discovery.findByPlural,
  })
  const platform = {
    ...tools,
    components,
    registries,
    storeOf,
    nativeCollectionOf: (exchange: AuthenticatedExchange) => obtain(nativeKinds.of(exchange)),
    services: (info: RequestInfo) => components.storeOf(info, 'services'),
    mayService,
  }
  const any = {
    ...tools,
    storeOf: (...names: Parameters<typeof discovery.find>) => discovery.find(...names).then(obtain),
    describeOutOfScope: (of: string) => describeOutOfScope(of, groupDomain),
    forward: (exchange: Parameters<Handler>[0]) => proxy(toNativePath(exchange)),
  }
  measure(registry, cache)

  return {
    aggregated: exchange =>
      isReview(exchange.info.resource) ? reviews(exchange) : serveRead(aggregated, exchange),
    platform: exchange => serveResources(platform, exchange),
    v1alpha2: exchange => serveOldResources(old, exchange),
    generic: exchange => serveAny(any, exchange),
    async items(exchange, how) {
      const { group, version, resource } = exchange.info
      const store = await any.storeOf(group, version, resource)
      if (store === undefined) throw unavailable(`${resource}.${group} cannot be read yet; retry later`)
      await readCollection(store, tools, exchange, { list: 'items', ...how })
    },
    views: createViews(tools, byPlural),
    narrowed: {
      visible,
      async read(exchange, how) {
        const seen = await visible(exchange.info, exchange.identity)
        const style = { list: 'items', visible: seen, ...how } as const
        await readCollection(await followed(exchange.info.resource), tools, exchange, style)
      },
      async isVisible({ info, identity }, only) {
        const store = await followed(info.resource)
        await waitForLatest(store, { namespace: '', name: info.name })
        const seen = await visible(info, identity)
        const entry = store.get('', info.name)
        return entry !== undefined && seen?.has(entry) !== false && only?.matches(entry) !== false
      },
    },
    documents: [createDiscovery(groups), createOpenApi(groups, kindSchemas)],
    selects({ group, version, resource }) {
      if (group !== resourcesGroup(groupDomain)) return true
      return version === resourcesVersion && !isForComponents(resource) && !isForRegistries(resource)
    },
    isOwn: exchange =>
      exchange.info.group === resourcesGroup(groupDomain) &&
      exchange.info.version === 'v1alpha2' &&
      isOwnKubeconfig(exchange),
    attributesOf: nativeKinds.attributesOf,
    isAggregated: plural => isAggregated(plural) || isReview(plural),
    async isNamespaced(exchange) {
      const { group, version, resource } = exchange.info
      const kind =
        group === resourcesGroup(groupDomain)
          ? (aggregatedKinds.find(({ plural }) => plural === resource) ?? nativeKinds.of(exchange))
          : await discovery.find(group, version, resource)
      return kind?.namespaced === true
    },
    checks: [
      {
        name: 'informer-sync',
        problem: () => (cache.isSynced ? undefined : 'the resource cache has not synced yet'),
      },
    ],
    watch: (path, handler) => cache.watch(path, handler),
    start() {
      // kube-apiserver fetches the documents a second after the group becomes available, and then
      // not again for a minute.
      void retryUntilSuccess(async () => void (await kindSchemas()), { logger, signal: stopped.signal })
      return cache.start()
    },
    stop() {
      stopped.abort()
      cache.stop()
      connection.close()
    },
  }
}

function measure(registry: Registry, cache: ResourceCache): void {
  // Kinds come and go: listeners of a kind that is not cached any more must be removed.
  const byResource = (read: (store: ObjectStore) => number) => (told: Gauge<'group' | 'resource'>) => {
    told.reset()
    for (const store of cache.stores()) {
      const { source, plural } = store.served.kind
      told.set({ group: source.group, resource: plural }, read(store))
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

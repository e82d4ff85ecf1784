import { unavailable, unknownResource } from '../../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import type { RequestInfo } from '../../../apirequest/request-info.ts'
import type { RequirePermission } from '../../../authz/authorizer.ts'
import type { NarrowedLists } from '../../../authz/narrowing/narrowed-lists.ts'
import type { GrantIndex, RbacReader } from '../../../authz/rbac/rbac-index.ts'
import { createVisibility } from '../../../authz/visibility/visibility.ts'
import type { Config } from '../../../config/config.ts'
import { accessKinds } from '../../../extensionapi/access/access-kinds.ts'
import { serveRead } from '../../../extensionapi/read/read.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { isForComponents } from '../../../platformapi/components/serve.ts'
import { serveAny, toNativePath } from '../../../platformapi/generic/serve-any-resource.ts'
import type { RoleTools } from '../../../platformapi/iam/v1alpha2/roles/role-routes.ts'
import { describeOutOfScope } from '../../../platformapi/out-of-scope.ts'
import { readCollection } from '../../../platformapi/read/read-collection.ts'
import type { ReadStyle } from '../../../platformapi/read/read-tools.ts'
import { isForRegistries } from '../../../platformapi/registries/serve.ts'
import { isOwnKubeconfig } from '../../../platformapi/resources/v1alpha2/kubeconfig.ts'
import { serveOldResources } from '../../../platformapi/resources/v1alpha2/serve.ts'
import { createNativeKinds } from '../../../platformapi/resources/v1alpha3/native-kind.ts'
import { serveResources } from '../../../platformapi/resources/v1alpha3/read.ts'
import type { CollectList } from '../../../platformapi/subrequests/subrequest.ts'
import { createPrinterColumns } from '../../../resourcecache/informer/printer-column-cache.ts'
import type { ResourceCache } from '../../../resourcecache/informer/resource-cache.ts'
import { waitForLatest } from '../../../resourcecache/informer/wait-for-resource-version.ts'
import type { Kind } from '../../../resourcecache/kind.ts'
import { resourcesGroup, resourcesVersion } from '../../../resourcecache/kinds.ts'
import { PageCache } from '../../../resourcecache/list/page-cache.ts'
import type { WatchBroadcaster } from '../../../resourcecache/watch/watch-broadcaster.ts'
import type { TaskQueue } from '../../../scheduling/task-queue.ts'
import { createUserTimeSlices, type UserTimeSlices } from '../../../scheduling/time-slices.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Registry } from '../../../telemetry/metrics.ts'
import type { Check } from '../../health/probes.ts'
import { createExtensionDocuments } from '../documents/extension-documents.ts'
import type { DocumentRoute } from '../path-router.ts'
import { observeCache } from './cache-metrics.ts'
import { createComputedReads } from './computed-reads.ts'
import { createRegistries } from './registries.ts'
import { createResourceStores } from './resource-stores.ts'
import { createVisibleReads, type VisibleReads } from './visible-reads.ts'

export type Resources = {
  /** Time slices for all long-running work on lists. */
  readonly timeSlices: UserTimeSlices
  /** Serves `/apis/resources.<group domain>/v1alpha3`. */
  readonly aggregated: Handler
  /** Serves `/kapis/resources.<group domain>/v1alpha3`. */
  readonly platform: Handler
  /** Serves `/kapis/resources.<group domain>/v1alpha2`. */
  readonly v1alpha2: Handler
  /** Serves `/kapis/{group}/{version}` for groups without a dedicated handler. */
  readonly generic: Handler
  /** Serves the same reads with lists as `{items, totalItems}`. */
  readonly items: (exchange: AuthenticatedExchange, how?: Pick<ReadStyle, 'form' | 'narrow'>) => Promise<void>
  /** Serves objects that are computed from Kubernetes objects. */
  readonly views: Pick<RoleTools, 'latest' | 'show'>
  /** Serves namespaces and workspaces on other paths, with the content of `platform`. */
  readonly narrowed: VisibleReads
  readonly documents: readonly DocumentRoute[]
  /** Returns whether the handler applies the selectors, which may then affect authorization. */
  readonly selects: (info: RequestInfo) => boolean
  /** Returns whether a request is for the caller's own kubeconfig, which needs no permission. */
  readonly isOwn: (exchange: AuthenticatedExchange) => boolean
  /**
   * Returns the attributes to authorize a request with, if they differ from those of the request.
   *
   * @throws Status 503
   */
  readonly attributesOf: (exchange: AuthenticatedExchange) => Promise<RequestInfo> | undefined
  /** Returns the kind that lists of the resources group have for a plural. @throws Status 503 */
  readonly kindOf: (plural: string) => Promise<Kind | undefined>
  readonly isAggregated: (plural: string) => boolean
  /** Returns whether the kind of a request is namespaced; false for others. @throws Status 503 */
  readonly isNamespaced: (exchange: AuthenticatedExchange) => Promise<boolean>
  readonly checks: readonly Check[]
  /** Watches a kind for another part of the program (see ResourceCache). */
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
  /** The index of namespaces in which role bindings grant permissions. */
  readonly grants: GrantIndex
  readonly reader: RbacReader
  readonly tasks: TaskQueue
  /** Registers a callback for possible changes of cluster-wide grants. */
  readonly onClusterChange: (listener: () => void) => void
  /** Returns the objects that the caller of a narrowed list may see; otherwise undefined. */
  readonly narrowedTo: NarrowedLists['of']
  /** Lists a kind as a part of another request. */
  readonly collect: CollectList
  /** Serves access reviews, which belong to the same group. */
  readonly reviews: Handler
  /** Proxies a request to kube-apiserver as the caller. */
  readonly proxy: Handler
  /** Returns the CA of the issuer URL; undefined if Kapis did not issue the certificate. */
  readonly caPem: () => string | undefined
  readonly isUser: (name: string) => boolean
  readonly requirePermission: RequirePermission
}

/** Wires the resource cache to the handlers that serve it. */
export function createResources(options: ResourcesOptions): Resources {
  const { client, config, live, logger, registry, broadcaster, grants, reviews, proxy, caPem, isUser } =
    options
  const { requirePermission, onClusterChange } = options
  const { groupDomain } = config
  const stores = createResourceStores({ client, groupDomain, live, logger })
  const { cache, discovery, ownKind, obtain, storeOf, ownStore, byPlural } = stores
  const visible = createVisibility({
    client,
    groupDomain,
    index: grants,
    reader: options.reader,
    tasks: options.tasks,
    onClusterChange,
    namespaces: () => ownStore('namespaces'),
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
    owners: { collect: options.collect, findByKind: discovery.findByKind },
    printerColumns: createPrinterColumns(client),
    narrowed: options.narrowedTo,
  }
  const extension = createExtensionDocuments({ client, groupDomain, logger })
  const aggregated = { ...tools, storeOf }
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
  const registries = createRegistries({ client, config, requirePermission })
  const old = {
    ...components,
    kubeconfig: { groupDomain, url: new URL(config.oauth.issuer), caPem, isUser },
  }
  const isAggregated = (plural: string) => ownKind(plural) !== undefined
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
    registries: registries.tools,
    storeOf,
    nativeCollectionOf: (exchange: AuthenticatedExchange) => obtain(nativeKinds.of(exchange)),
    services: (info: RequestInfo) => components.storeOf(info, 'services'),
    requirePermission,
  }
  const any = {
    ...tools,
    storeOf: (...names: Parameters<typeof discovery.find>) => discovery.find(...names).then(obtain),
    describeOutOfScope: (of: string) => describeOutOfScope(of, groupDomain),
    forward: (exchange: Parameters<Handler>[0]) => proxy(toNativePath(exchange)),
  }
  observeCache(registry, cache)

  return {
    timeSlices: tools.timeSlices,
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
    views: createComputedReads(tools, byPlural),
    narrowed: createVisibleReads({ visible, tools, storeOf: ownStore }),
    documents: extension.documents,
    selects({ prefix, group, version, resource }) {
      if (group !== resourcesGroup(groupDomain)) return true
      // Only the platform API has other versions. kube-apiserver authorizes unknown ones as all others.
      const isOld = version === 'v1alpha2' && prefix !== 'apis'
      return !isOld && !isForComponents(resource) && !isForRegistries(resource)
    },
    isOwn: exchange =>
      exchange.info.group === resourcesGroup(groupDomain) &&
      exchange.info.version === 'v1alpha2' &&
      isOwnKubeconfig(exchange),
    attributesOf: nativeKinds.attributesOf,
    kindOf: async plural => ownKind(plural) ?? discovery.findByPlural(plural),
    isAggregated: plural => isAggregated(plural) || isReview(plural),
    async isNamespaced(exchange) {
      const { group, version, resource } = exchange.info
      const kind =
        group === resourcesGroup(groupDomain)
          ? (ownKind(resource) ?? nativeKinds.of(exchange))
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
      extension.start()
      return cache.start()
    },
    stop() {
      extension.stop()
      cache.stop()
      registries.close()
    },
  }
}

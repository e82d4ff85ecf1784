import type { AuthenticatedExchange } from '../apirequest/request-context.ts'
import { withoutSelectors } from '../apirequest/request-info.ts'
import { createAuthorizeRequest } from '../authz/authorize-request.ts'
import { createNarrowedLists, isNarrowable } from '../authz/narrowed-lists.ts'
import { createNarrowingRole } from '../authz/narrowing-role.ts'
import { RbacIndex } from '../authz/rbac-index.ts'
import { createRefusalExplanation } from '../authz/review/explain-refusal.ts'
import { createRuleResolution } from '../authz/review/rule-resolution.ts'
import { assertMayUpgrade } from '../authz/token-scope.ts'
import { FileCertificates } from '../certs/file-certificates.ts'
import { isForHost } from '../certs/renewal-reason.ts'
import { ServingCertificates } from '../certs/serving-certificates.ts'
import type { Config, Secrets } from '../config/config.ts'
import type { Reloads } from '../config/config-file.ts'
import { observeReloads } from '../config/reload-metrics.ts'
import { readProxyEnvironment } from '../http/proxy-environment.ts'
import { createClientAddress } from '../httpserver/client-address.ts'
import { iamVersion } from '../iam/users/user.ts'
import { createKubeClient } from '../kubeclient/client.ts'
import { loadRestConfig } from '../kubeclient/rest-config.ts'
import { retryUntilSuccess } from '../kubeclient/retry.ts'
import { withServiceAccountErrors } from '../kubeclient/service-account-errors.ts'
import { withAuditOfWrites } from '../platformapi/audited-calls.ts'
import { createKubeProxy, type GonePods } from '../proxy/kube.ts'
import { createKubeConnections } from '../proxy/kube-connections.ts'
import { createOAuthForward, type OAuthForwardOptions } from '../proxy/oauth.ts'
import { forwardUpgrade, kubeUpgrade } from '../proxy/upgrade.ts'
import { resourcesGroup, resourcesVersion, toAggregatedKinds } from '../resourcecache/kinds.ts'
import { WatchBroadcaster } from '../resourcecache/watch/watch-broadcaster.ts'
import { collectGarbage } from '../telemetry/collect-garbage.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { startTracing } from '../telemetry/tracing/start.ts'
import { createHandlerChain } from './filters/handler-chain.ts'
import { createMeasuredMaxInFlight } from './filters/max-in-flight-metrics.ts'
import { createPublicRoutes } from './filters/public-routes.ts'
import { createRequestMetrics } from './filters/request-metrics.ts'
import { createSessionRevocation } from './filters/session-revocation.ts'
import { createSlowClients } from './filters/slow-clients.ts'
import { checkCredential } from './health/credential-check.ts'
import { createHealthMetrics } from './health/health-metrics.ts'
import { checkOAuthReadiness } from './health/oauth-readiness-check.ts'
import { createProbes } from './health/probes.ts'
import { observeCertificates } from './server/certificate-metrics.ts'
import { shutDownGracefully } from './server/graceful-shutdown.ts'
import { openListeners } from './server/listeners.ts'
import { createProfiles } from './server/profiles.ts'
import { type BuildInfo, toVersionInfo } from './server/version.ts'
import { createAccessReviews } from './wiring/access-reviews.ts'
import { createAggregatedApis } from './wiring/aggregated-apis.ts'
import { createApiDocs } from './wiring/api-docs.ts'
import { startAudit } from './wiring/audit.ts'
import { createAuth } from './wiring/auth.ts'
import { createCallAs } from './wiring/caller-client.ts'
import { createIam } from './wiring/iam.ts'
import { createConfiguredLogPage } from './wiring/log-page.ts'
import { createLogs } from './wiring/logs.ts'
import { createOAuthMetricsProxy } from './wiring/oauth-metrics-proxy.ts'
import { createRegistration } from './wiring/registration.ts'
import { createResources } from './wiring/resources.ts'
import { createRouter } from './wiring/router.ts'
import { createSubscriptionRoutes } from './wiring/subscriptions.ts'
import { createTenant } from './wiring/tenant.ts'

// A profile takes up to a minute without any response.
const profileSilenceMs = 90_000
// Each watch and terminal through the proxy holds a connection; short requests share the others.
const maxProxied = { short: 640, long: 4_096 }

/**
 * Builds and connects all parts, and serves until `signal` aborts. kube-apiserver may start later
 * than this program: it waits for the certificates before it opens the listener, and is ready once
 * its caches have synced.
 */
export async function runApiserver(
  parts: {
    readonly config: Config
    readonly secrets: Secrets
    readonly reloads: Reloads
    readonly logger: Logger
    readonly build: BuildInfo
  },
  signal: AbortSignal,
): Promise<void> {
  // Reports an invalid certificate at the start, and not with the first connection.
  readProxyEnvironment(process.env)
  const { config, secrets, reloads, logger } = parts
  const { live } = reloads
  const { groupDomain } = config
  const group = resourcesGroup(groupDomain)
  const registry = createRegistry()
  observeReloads(registry, reloads)
  const tracing = await startTracing({
    config: config.tracing,
    program: 'kapis-apiserver',
    version: parts.build.version,
    logger,
    registry,
    continues: 'privileged',
  })
  const endpoint = loadRestConfig(config.kubernetes.kubeconfig)
  const kubeApiserver = { name: 'kube-apiserver', url: endpoint.url }
  const client = tracing.client(createKubeClient(endpoint), kubeApiserver)
  const clientAddress = createClientAddress(() => live().listen.trustedProxies)
  const bindings = new RbacIndex({ client, logger })
  const reader = bindings.reader()
  const explain = createRefusalExplanation(reader)
  const narrowed = createNarrowedLists({ client, reader, resolution: createRuleResolution(client) })
  const narrowingRole = createNarrowingRole({ reader, group, kinds: toAggregatedKinds(groupDomain) })
  const access = createAuth({
    ...{ client, config, logger, registry, group, clientAddress, explain },
    narrowingRole,
  })
  const { authorize } = access
  const certificates =
    config.tls.certFile === ''
      ? new ServingCertificates({ client, config, logger })
      : new FileCertificates({ files: config.tls, logger })
  observeCertificates(registry, () => certificates.current())
  await retryUntilSuccess(() => certificates.start(), { logger, signal })
  if (signal.aborted) return
  const keeper = createRegistration({ client, config, certificates, logger })

  const proxied = loadRestConfig(config.kubernetes.kubeconfig)
  const connections = createKubeConnections(proxied, maxProxied)
  const broadcaster = new WatchBroadcaster({ stallMs: () => live().limits.stallSeconds * 1_000 })
  const gonePods: GonePods = {
    asks: exchange => logs.gonePods.asks(exchange),
    answer: exchange => logs.gonePods.answer(exchange),
  }
  const proxy = tracing.upstream(kubeApiserver, createKubeProxy(proxied, connections, gonePods))
  const resources = createResources({
    client,
    config,
    live,
    logger,
    registry,
    broadcaster,
    grants: bindings.of('any'),
    narrowedTo: narrowed.of,
    onClusterChange: listener => bindings.onClusterChange(listener),
    reviews: createAccessReviews({ client, config, access, bindings }),
    proxy,
    authorizeSecretRead: access.authorizeSecretRead,
    authorizeServiceRead: access.authorizeServiceRead,
    caPem() {
      const { certPem, bundlePem } = certificates.current()
      return isForHost(certPem, new URL(config.oauth.issuer).hostname) ? bundlePem : undefined
    },
    isUser: name => access.users.get(name) !== undefined,
  })
  const logs = await createLogs({
    ...{ client, config, live, secrets, logger, registry, authorize, bindings },
    watchNamespaces: handler => resources.watch('/api/v1/namespaces', handler),
  })
  const logSearches = logs.apis.get(`tenant.${groupDomain}/v1alpha2`)
  if (logSearches === undefined) throw new Error('the tenant group has no searches')
  const callAs = withAuditOfWrites(createCallAs(client), { logger, clientAddress })
  const tenant = createTenant({
    groupDomain,
    callAs,
    created: (exchange, where) => iam.giveIn(exchange, where),
    narrowed: resources.narrowed,
    users: access.users,
    requirePermission: access.requirePermission,
    searches: logSearches,
  })
  const iam = await createIam({
    client: withServiceAccountErrors(client),
    config,
    clientAddress,
    access,
    callAs,
    views: resources.views,
    list: resources.items,
    rest: resources.generic,
    logger,
    registry,
  })
  const { socket } = config.oauth
  const slis = createHealthMetrics()
  const probes = createProbes(
    [
      ...resources.checks,
      ...access.checks,
      { name: 'apiservice-registration', problem: () => keeper.problem() },
      checkOAuthReadiness({ socket, signal }),
      checkCredential({ client, signal }),
      ...logs.checks,
    ],
    slis.observe,
  )
  const forwardToListener = (how: Pick<OAuthForwardOptions, 'silenceMs' | 'path' | 'errors'>) =>
    tracing.upstream(
      { name: 'kapis-oauth', socket },
      createOAuthForward({ socket, clientAddress, logger, ...how }),
    )
  const versionInfo = toVersionInfo(parts.build)
  const components = createAggregatedApis({ client, config, logger, tracing })
  const subscriptions = createSubscriptionRoutes({
    group,
    version: resourcesVersion,
    platform: resources.platform,
    maxParameterLength: config.limits.parameterKilobytes * 1024,
    broadcaster,
    chain: () => ({ auditor: audit.auditor, authorize: authorizeRequest, router }),
  })
  const router = createRouter({
    group,
    version: resourcesVersion,
    aggregated: resources.aggregated,
    platform: new Map([
      ...logs.apis,
      [`${group}/${resourcesVersion}`, subscriptions.platform],
      [`${group}/v1alpha2`, resources.v1alpha2],
      [`iam.${groupDomain}/${iamVersion}`, iam.serve],
      [`tenant.${groupDomain}/v1alpha2`, tenant.v1alpha2],
      [`tenant.${groupDomain}/v1alpha3`, tenant.v1alpha3],
    ]),
    aggregatedApi: components.find,
    generic: resources.generic,
    documents: resources.documents,
    ownDocuments: [
      ...createApiDocs({ client, config, version: parts.build.version }),
      createProfiles(logger, forwardToListener({ silenceMs: profileSilenceMs, errors: 'status' })),
      slis.document,
      createOAuthMetricsProxy(forwardToListener({ path: '/metrics', errors: 'status' })),
    ],
    proxy: exchange => iam.servePatchOfOwn(exchange) ?? proxy(exchange),
    registry,
    versionInfo,
    narrowing: new Set([resources.aggregated, subscriptions.platform, resources.generic]),
    isNarrowed: exchange => narrowed.of(exchange) !== undefined,
  })
  const { route, isProxied: isDelegated, narrows } = router
  const upgradeProxy = tracing.upstream(kubeApiserver, async (exchange: AuthenticatedExchange) =>
    forwardUpgrade(await kubeUpgrade(proxied, connections, exchange), exchange),
  )
  function attributesOf(exchange: AuthenticatedExchange) {
    const { info } = exchange
    if (isDelegated(exchange)) return info
    // A request for a kind of another group is authorized as that kind, which the resource cache
    // selects.
    const native = tenant.attributesOf(exchange) ?? resources.attributesOf(exchange)
    if (native !== undefined) return native
    const isSelecting = resources.selects(info) && !components.serves(info.group, info.version)
    return isSelecting ? info : withoutSelectors(info)
  }
  const logPage = createConfiguredLogPage(config, clientAddress)
  const audit = await startAudit(config.audit, { logger, registry, keep: logs.keepAuditEvent })
  const authorizeRequest = createAuthorizeRequest({
    isProxied: isDelegated,
    isOwn: exchange => iam.isOwn(exchange) || resources.isOwn(exchange),
    judgesItself: exchange => [logs, tenant, iam, subscriptions].some(part => part.judgesItself(exchange)),
    attributesOf,
    authorize: access.authorize,
    narrow: (exchange, attributes) =>
      live().cache.clusterLists === 'narrowed' &&
      isNarrowable(attributes, exchange.identity) &&
      narrows(exchange)
        ? refused => narrowed.narrow(exchange, refused, () => resources.isNamespaced(exchange))
        : undefined,
  })
  const chain = createHandlerChain({
    logger,
    accessLog: () => live().accessLog,
    auditor: audit.auditor,
    maxInFlight: createMeasuredMaxInFlight(() => live().limits, registry),
    slowClients: createSlowClients(() => live().limits.stallSeconds * 1_000),
    isProxied: isDelegated,
    requestSeconds: () => live().limits.requestSeconds,
    maxParameterLength: config.limits.parameterKilobytes * 1024,
    metrics: createRequestMetrics(registry, (g, resource) => g === group && resources.isAggregated(resource)),
    publicRoutes: createPublicRoutes({
      client,
      config,
      probes,
      versionInfo,
      logPage,
      forward: forwardToListener({}),
    }),
    authenticate: tracing.authenticate(access.authenticate),
    impersonate: access.impersonate(attributesOf),
    sessionRevocation: createSessionRevocation(access.hasEnded),
    authorize: authorizeRequest,
    route,
    async upgrade(exchange) {
      if (isDelegated(exchange)) {
        assertMayUpgrade(exchange.info, exchange.identity)
        return upgradeProxy(exchange)
      }
      if (!(await components.upgrade(exchange))) await route(exchange)
    },
  })

  const { servers, unused, sessions } = await openListeners({
    config,
    logger,
    request: tracing.listener((req, res) => {
      logPage?.admit(req)
      logs.admit(req)
      chain.request(req, res)
    }),
    upgrade: tracing.listener(chain.upgrade),
    tls: () => ({ ...certificates.current(), clientCaPems: access.clientCaPems() }),
    onTlsChange(listener) {
      certificates.onChange(listener)
      access.onChange(listener)
    },
    maxConnections: () => live().limits.connections,
  })
  access.start()
  bindings.start().catch(err => logger.error({ err }, 'failed to watch role bindings'))
  components.start()
  iam.start()
  logs.start()
  keeper.start()
  resources.start().then(
    async () => {
      logger.info('ready')
      // Before the first probe succeeds.
      await collectGarbage().catch(err => logger.warn({ err }, 'failed to release memory after startup'))
    },
    err => logger.error({ err }, 'failed to start the resource cache'),
  )

  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  // Uninstalling Kapis also deletes the APIService.
  keeper.stop()
  await shutDownGracefully(servers, {
    probes,
    unused,
    longRunning: [broadcaster, logs, sessions],
    delaySeconds: live().shutdownDelaySeconds,
    logger,
  })
  sessions.destroy()
  components.stop()
  for (const part of [certificates, resources, bindings, iam, access]) part.stop()
  connections.close()
  await audit.stop()
  await logs.stop()
  await tracing.stop()
  client.close()
}

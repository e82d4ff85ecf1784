import type { Config, Secrets } from '../config/config.ts'
import type { Reloads } from '../config/config-file.ts'
import { observeReloads } from '../config/reload-metrics.ts'
import { readProxyEnvironment } from '../http/proxy-environment.ts'
import { createClientAddress } from '../httpserver/request/client-address.ts'
import { retryUntilSuccess } from '../kubeclient/retry.ts'
import { resourcesGroup, resourcesVersion } from '../resourcecache/kinds.ts'
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
import { createHealth } from './health/health.ts'
import type { Check } from './health/probes.ts'
import { shutDownGracefully } from './server/graceful-shutdown.ts'
import { openListeners } from './server/listeners.ts'
import { type BuildInfo, toVersionInfo } from './server/version.ts'
import { createApis } from './wiring/apis/apis.ts'
import { createConfiguredLogPage } from './wiring/apis/log-page.ts'
import { startAudit } from './wiring/audit.ts'
import { createAuth } from './wiring/auth.ts'
import { createCertificates } from './wiring/certificates.ts'
import { createKubeApiserver } from './wiring/kube-apiserver.ts'
import { createMembers } from './wiring/member-clusters.ts'
import { createRbac } from './wiring/rbac.ts'
import { createRegistration } from './wiring/registration.ts'
import { createRequestAuthorization } from './wiring/request-authorization.ts'
import { createForwardToOAuth, createRoutes } from './wiring/routes.ts'
import { createSubrequestRoutes } from './wiring/subrequests.ts'

/**
 * Creates and connects all parts, and serves until `signal` aborts. kube-apiserver may start later
 * than this program: the listener is opened when certificates are available, and the program is
 * ready when its caches have synced.
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
  // Reports an invalid proxy setting at startup rather than at the first connection.
  readProxyEnvironment(process.env)
  const { config, secrets, reloads, logger, build } = parts
  const { live } = reloads
  const { groupDomain } = config
  const group = resourcesGroup(groupDomain)
  const registry = createRegistry()
  observeReloads(registry, reloads)
  const tracing = await startTracing({
    ...{ config: config.tracing, logger, registry },
    program: 'kapis-apiserver',
    version: build.version,
    continues: 'privileged',
  })
  const kubeApiserver = createKubeApiserver(config, tracing)
  const { client, isAnonymousAllowed } = kubeApiserver
  const clientAddress = createClientAddress(() => live().listen.trustedProxies)
  const rbac = createRbac({ client, groupDomain, logger })
  const access = createAuth({
    ...{ client, isAnonymousAllowed, config, live, logger, registry, group, clientAddress, ...rbac },
  })
  const certificates = createCertificates({ client, config, logger, registry })
  await retryUntilSuccess(() => certificates.start(), { logger, signal })
  if (signal.aborted) return
  const keeper = createRegistration({ client, config, certificates, logger })

  const maxParameterLength = config.limits.parameterKilobytes * 1024
  const stallMs = () => live().limits.stallSeconds * 1_000
  const requestSeconds = () => live().limits.requestSeconds
  const maxInFlight = createMeasuredMaxInFlight(() => live().limits, registry)
  const broadcaster = new WatchBroadcaster({ stallMs })
  const apis = await createApis({
    ...{ kubeApiserver, config, secrets, live, logger, registry, tracing, clientAddress },
    ...{ rbac, access, certificates, broadcaster },
    collect: (...list) => subrequests.collect(...list),
    memberNames: () => members?.names(),
  })
  const { resources, logs } = apis
  const { socket } = config.oauth
  const registered: Check = { name: 'apiservice-registration', problem: () => keeper.problem() }
  const health = createHealth({
    checks: [...apis.checks, registered],
    partial: logs.checks,
    ...{ client, socket, signal },
  })
  const { probes } = health
  const forward = createForwardToOAuth({ socket, tracing, clientAddress, logger })
  const subrequests = createSubrequestRoutes({
    ...{ groupDomain, group, version: resourcesVersion, broadcaster, requestSeconds },
    ...{ platform: resources.platform, kindOf: resources.kindOf },
    ...{ maxParameterLength, timeSlices: resources.timeSlices },
    chain: () => ({ auditor: audit.auditor, authorize, maxInFlight, router, members }),
  })
  const router = createRoutes({
    ...{ apis, subrequests, kubeApiserver, config, build, logger, registry, rbac, forward },
    ownDocuments: [health.document],
  })
  const { attributesOf, authorize } = createRequestAuthorization({
    ...{ access, apis, subrequests, router, rbac, live },
  })
  const members = config.multicluster.enabled
    ? createMembers({ client, config, access, recordings: logs.recordings, logger })
    : undefined
  const host = { attributesOf, authorize, ...router }
  const { attributesOf: rightOf, ...served } = members?.over(host) ?? host
  const logPage = createConfiguredLogPage(config, clientAddress)
  const audit = await startAudit(config.audit, { logger, registry, keep: logs.keepAuditEvent })
  const chain = createHandlerChain({
    logger,
    accessLog: () => live().accessLog,
    auditor: audit.auditor,
    maxInFlight,
    slowClients: createSlowClients(stallMs),
    requestSeconds,
    maxParameterLength,
    clusters: members === undefined ? 'host' : 'all',
    metrics: createRequestMetrics(registry, (g, resource) => g === group && resources.isAggregated(resource)),
    publicRoutes: createPublicRoutes({
      versionInfo: toVersionInfo(build),
      client,
      config,
      probes,
      logPage,
      forward: forward({}),
    }),
    authenticate: tracing.authenticate(access.authenticate),
    impersonate: access.impersonate(rightOf),
    sessionRevocation: createSessionRevocation(access.hasEnded),
    ...served,
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
  rbac.bindings.start().catch(err => logger.error({ err }, 'failed to watch role bindings'))
  apis.start()
  members?.start()
  keeper.start()
  resources.start().then(
    async () => {
      logger.info('ready')
      // At startup, before the first probe succeeds.
      await collectGarbage().catch(err => logger.warn({ err }, 'failed to release memory after startup'))
    },
    err => logger.error({ err }, 'failed to start the resource cache'),
  )

  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  // When Kapis is uninstalled, the APIService is deleted too and must not be created again.
  keeper.stop()
  await shutDownGracefully(servers, {
    probes,
    unused,
    longRunning: [broadcaster, logs, sessions],
    delaySeconds: live().shutdownDelaySeconds,
    logger,
  })
  sessions.destroy()
  for (const part of [certificates, apis, members, rbac.bindings, access]) part?.stop()
  kubeApiserver.close()
  await audit.stop()
  await logs.stop()
  await tracing.stop()
  client.close()
}

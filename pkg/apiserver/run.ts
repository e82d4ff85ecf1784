import type { Config, Secrets } from '../config/config.ts'
import type { Reloads } from '../config/config-file.ts'
import { observeReloads } from '../config/reload-metrics.ts'
import { readProxyEnvironment } from '../http/proxy-environment.ts'
import { createClientAddress } from '../httpserver/request/client-address.ts'
import { retryUntilSuccess } from '../kubeclient/retry.ts'
import { resourcesGroup } from '../resourcecache/kinds.ts'
import { WatchBroadcaster } from '../resourcecache/watch/watch-broadcaster.ts'
import { collectGarbage } from '../telemetry/collect-garbage.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { startTracing } from '../telemetry/tracing/start.ts'
import { createHealth } from './health/health.ts'
import type { Check } from './health/probes.ts'
import { shutDownGracefully } from './server/graceful-shutdown.ts'
import { openListeners } from './server/listeners.ts'
import type { BuildInfo } from './server/version.ts'
import { createApis } from './wiring/apis/apis.ts'
import { startAudit } from './wiring/audit.ts'
import { createAuth } from './wiring/auth/auth.ts'
import { createCertificates } from './wiring/certificates.ts'
import { createKubeApiserver } from './wiring/kube-apiserver.ts'
import { createRbac } from './wiring/rbac.ts'
import { createRegistration } from './wiring/registration.ts'
import { createRequestHandling } from './wiring/request-handling.ts'

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
    ...{ client, isAnonymousAllowed, config, live, logger, registry, clientAddress, ...rbac },
    group: resourcesGroup(groupDomain),
  })
  const certificates = createCertificates({ client, config, logger, registry })
  await retryUntilSuccess(() => certificates.start(), { logger, signal })
  if (signal.aborted) return
  const keeper = createRegistration({ client, config, certificates, logger })

  const broadcaster = new WatchBroadcaster({ stallMs: () => live().limits.stallSeconds * 1_000 })
  const apis = await createApis({
    ...{ kubeApiserver, config, secrets, live, logger, registry, tracing, clientAddress },
    ...{ rbac, access, certificates, broadcaster },
    collect: (...list) => handling.collect(...list),
    memberNames: () => handling.memberNames(),
  })
  const { resources, logs } = apis
  const registered: Check = { name: 'apiservice-registration', problem: () => keeper.problem() }
  const health = createHealth({
    checks: [...apis.checks, registered],
    partial: logs.checks,
    ...{ client, socket: config.oauth.socket, signal },
  })
  const audit = await startAudit(config.audit, { logger, registry, keep: logs.keepAuditEvent })
  const handling = createRequestHandling({
    ...{ apis, access, rbac, kubeApiserver, health, auditor: audit.auditor, broadcaster },
    ...{ config, live, build, logger, registry, tracing, clientAddress },
  })

  const { servers, unused, sessions } = await openListeners({
    config,
    logger,
    request: handling.request,
    upgrade: handling.upgrade,
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
  handling.start()
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
    probes: health.probes,
    unused,
    longRunning: [broadcaster, logs, sessions],
    delaySeconds: live().shutdownDelaySeconds,
    logger,
  })
  sessions.destroy()
  for (const part of [certificates, apis, handling, rbac.bindings, access]) part.stop()
  kubeApiserver.close()
  await audit.stop()
  await logs.stop()
  await tracing.stop()
  client.close()
}

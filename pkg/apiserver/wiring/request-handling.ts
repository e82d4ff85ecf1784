import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Config } from '../../config/config.ts'
import type { ClientAddress } from '../../httpserver/request/client-address.ts'
import type { CollectList } from '../../platformapi/subrequests/subrequest.ts'
import { resourcesGroup, resourcesVersion } from '../../resourcecache/kinds.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Registry } from '../../telemetry/metrics.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import { createHandlerChain, type HandlerChain } from '../filters/handler-chain.ts'
import { createMeasuredMaxInFlight } from '../filters/max-in-flight-metrics.ts'
import { createPublicRoutes } from '../filters/public-routes.ts'
import { createRequestMetrics } from '../filters/request-metrics.ts'
import { createSessionRevocation } from '../filters/session-revocation.ts'
import { createSlowClients } from '../filters/slow-clients.ts'
import type { createHealth } from '../health/health.ts'
import { type BuildInfo, toVersionInfo } from '../server/version.ts'
import type { Apis } from './apis/apis.ts'
import { createConfiguredLogPage } from './apis/log-page.ts'
import type { RunningAudit } from './audit.ts'
import type { Auth } from './auth/auth.ts'
import type { KubeApiserver } from './kube-apiserver.ts'
import { createMembers } from './member-clusters.ts'
import type { Rbac } from './rbac.ts'
import { createRequestAuthorization } from './request-authorization.ts'
import { createForwardToOAuth, createRoutes } from './routes.ts'
import { createSubrequestRoutes } from './subrequests.ts'

/** Everything between the listeners and the APIs. */
export type RequestHandling = HandlerChain & {
  /** Lists a kind as a part of another request. */
  readonly collect: CollectList
  /** Returns the names of the member clusters; undefined if Kapis serves none. @throws Status 503 */
  readonly memberNames: () => readonly string[] | undefined
  readonly start: () => void
  readonly stop: () => void
}

/** Wires routes, authorization and filters to the handler chain. */
export function createRequestHandling(parts: {
  readonly apis: Apis
  readonly access: Auth
  readonly rbac: Rbac
  readonly kubeApiserver: KubeApiserver
  readonly health: ReturnType<typeof createHealth>
  readonly auditor: RunningAudit['auditor']
  readonly broadcaster: WatchBroadcaster
  readonly config: Config
  readonly live: () => Config
  readonly build: BuildInfo
  readonly logger: Logger
  readonly registry: Registry
  readonly tracing: Tracing
  readonly clientAddress: ClientAddress
}): RequestHandling {
  const { apis, access, rbac, kubeApiserver, health, auditor, broadcaster } = parts
  const { config, live, build, logger, registry, tracing, clientAddress } = parts
  const { client } = kubeApiserver
  const { resources, logs } = apis
  const { groupDomain, oauth } = config
  const group = resourcesGroup(groupDomain)
  const maxParameterLength = config.limits.parameterKilobytes * 1024
  const requestSeconds = () => live().limits.requestSeconds
  const maxInFlight = createMeasuredMaxInFlight(() => live().limits, registry)
  const forward = createForwardToOAuth({ socket: oauth.socket, tracing, clientAddress, logger })
  const subrequests = createSubrequestRoutes({
    ...{ groupDomain, group, version: resourcesVersion, broadcaster, requestSeconds },
    ...{ platform: resources.platform, kindOf: resources.kindOf },
    ...{ maxParameterLength, timeSlices: resources.timeSlices },
    chain: () => ({ auditor, authorize, maxInFlight, router, members }),
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
  const { attributesOf: impersonationAttributes, ...served } = members?.over(host) ?? host
  const logPage = createConfiguredLogPage(config, clientAddress)
  const chain = createHandlerChain({
    ...{ logger, auditor, maxInFlight, requestSeconds, maxParameterLength },
    accessLog: () => live().accessLog,
    slowClients: createSlowClients(() => live().limits.stallSeconds * 1_000),
    clusters: members === undefined ? 'host' : 'all',
    metrics: createRequestMetrics(registry, (g, resource) => g === group && resources.isAggregated(resource)),
    publicRoutes: createPublicRoutes({
      ...{ client, config, probes: health.probes, logPage },
      versionInfo: toVersionInfo(build),
      forward: forward({}),
    }),
    authenticate: tracing.authenticate(access.authenticate),
    impersonate: access.impersonate(impersonationAttributes),
    sessionRevocation: createSessionRevocation(access.hasEnded),
    ...served,
  })
  return {
    request: tracing.listener((req: IncomingMessage, res: ServerResponse) => {
      logPage?.admit(req)
      logs.admit(req)
      chain.request(req, res)
    }),
    upgrade: tracing.listener(chain.upgrade),
    collect: subrequests.collect,
    memberNames: () => members?.names(),
    start: () => members?.start(),
    stop: () => members?.stop(),
  }
}

import type { IncomingMessage } from 'node:http'
import { unauthorized, unavailable } from '../../../apierrors/status.ts'
import { hasNoCredential } from '../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { isPlatformPrefix } from '../../../apirequest/request-info.ts'
import type { Authorize } from '../../../authz/authorizer.ts'
import type { RbacIndex } from '../../../authz/rbac/rbac-index.ts'
import type { RbacCheck } from '../../../authz/review/rbac-check.ts'
import { createNamespaceFinder } from '../../../authz/visibility/accessible-namespaces.ts'
import { NamespaceIndex } from '../../../authz/visibility/namespace-index.ts'
import type { Config, Secrets } from '../../../config/config.ts'
import type { ClientAddress } from '../../../httpserver/request/client-address.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { createSpaceCheck } from '../../../logs/ingest/space-check.ts'
import { openLogStore } from '../../../logs/open-store.ts'
import { createLoggingApi } from '../../../platformapi/logging/v1alpha2/serve.ts'
import { isOfSessionRecordings } from '../../../platformapi/logging/v1alpha2/session-recordings.ts'
import { createDeletedPodLogs, isPodLogRequest } from '../../../platformapi/logs/deleted-pod-logs.ts'
import { createTenantApi, isOfTenantApi } from '../../../platformapi/tenant/v1alpha2/serve.ts'
import type { DeletedPodLogs } from '../../../proxy/kube-apiserver-proxy.ts'
import type { SessionRecording } from '../../../proxy/session-recording.ts'
import { createTimeSlices } from '../../../scheduling/time-slices.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Registry } from '../../../telemetry/metrics.ts'
import type { Check } from '../../health/probes.ts'
import { createEventStreams } from './events.ts'
import { createIngestMetrics } from './ingest-metrics.ts'
import { createLogConcurrency } from './log-concurrency.ts'
import { createLogHandlers } from './log-handlers.ts'
import { createSessionRecordings } from './session-recordings.ts'

const version = 'v1alpha2'
const permission = { verb: 'get', group: '', resource: 'pods', subresource: 'log' }

export type Logs = {
  /** The handlers of the log APIs, by `<group>/<version>`. */
  readonly apis: ReadonlyMap<string, Handler>
  /** Returns whether the handler of a request authorizes it itself. @throws Status 401 */
  readonly authorizesItself: (exchange: AuthenticatedExchange) => boolean
  /** Rewrites a path of VictoriaLogs to the logging API, before the filters. */
  readonly admit: (req: IncomingMessage) => void
  /** Stores an audit event; undefined if audit events are not stored. */
  readonly keepAuditEvent: ((event: string) => void) | undefined
  readonly recordings: SessionRecording
  /** Serves logs of pods that kube-apiserver no longer has. */
  readonly deletedPodLogs: DeletedPodLogs
  /** Health checks of the log store. */
  readonly checks: readonly Check[]
  readonly start: () => void
  /** Ends the live tails. */
  readonly close: () => void
  readonly stop: () => Promise<void>
}

export type LogsOptions = {
  readonly client: KubeClient
  readonly config: Config
  readonly live: () => Config
  readonly secrets: Secrets
  readonly logger: Logger
  readonly registry: Registry
  readonly authorize: Authorize
  readonly bindings: RbacIndex
  readonly rbacCheck: RbacCheck
  readonly clientAddress: ClientAddress
  readonly watchNamespaces: (handler: NamespaceIndex['handler']) => {
    start: () => Promise<void>
    stop: () => void
  }
}

/** Wires the log store, the authorization of its readers, and the log APIs. */
export async function createLogs(options: LogsOptions): Promise<Logs> {
  const { client, config, live, secrets, logger, registry, authorize, clientAddress } = options
  const { bindings, rbacCheck: rbac } = options
  const { groupDomain } = config
  const [tenant, logging] = [`tenant.${groupDomain}`, `logging.${groupDomain}`]
  const timeSlices = createTimeSlices()
  const streams = await openLogStore(config.logs, secrets.logStore, { logger, timeSlices })
  const namespaces = new NamespaceIndex(groupDomain)
  const namespaceWatch = options.watchNamespaces(namespaces.handler)
  const concurrency = createLogConcurrency()
  const joined = { client, config, live, bindings, rbac, namespaces, logger, registry, concurrency }
  const events = streams && createEventStreams({ ...joined, streams })
  const recordings = createSessionRecordings({
    ...{ store: streams?.recordings, live, clientAddress, concurrency, logger, registry },
    created: () => namespaces.created,
  })
  const closing = new AbortController()
  const observe = createIngestMetrics(registry, logger)
  const space = streams && createSpaceCheck(streams.lines.ingest)
  const reading = streams && {
    store: streams.lines,
    concurrency,
    readable: createNamespaceFinder({ client, index: bindings.of(permission), permission, rbac }),
    created: () => namespaces.created,
    limits: () => live().logs,
    closing: closing.signal,
  }
  const handlers =
    reading === undefined || events === undefined || space === undefined
      ? { logs: none, logsql: none, ingest: none, events: none, auditing: none }
      : {
          ...createLogHandlers({ reading, timeSlices, lines: space, groupDomain, authorize, observe }),
          ...{ events: events.events, auditing: events.auditing },
        }

  return {
    apis: new Map([
      [`${tenant}/${version}`, createTenantApi(handlers)],
      [
        `${logging}/${version}`,
        createLoggingApi({ groupDomain, ...handlers, recordings: recordings.serve ?? none }),
      ],
    ]),
    recordings: recordings.proxied,
    deletedPodLogs:
      reading === undefined
        ? { asks: () => false, respond: async () => false }
        : { asks: isPodLogRequest, respond: createDeletedPodLogs(reading) },
    admit(req) {
      if (req.url?.startsWith('/select/logsql/')) req.url = `/kapis/${logging}/${version}${req.url}`
    },
    checks: space === undefined ? [] : [{ name: 'logs', problem: space.problem, isPartial: true }],
    keepAuditEvent: events?.keepAuditEvent,
    authorizesItself({ info, identity }) {
      const { prefix, group, parts } = info
      if (!isPlatformPrefix(prefix) || info.version !== version) return false
      if (group === logging ? isOfSessionRecordings(parts) : group !== tenant || !isOfTenantApi(parts))
        return false
      if (hasNoCredential(identity)) throw unauthorized()
      return true
    },
    start() {
      if (events === undefined) return
      void namespaceWatch.start()
      events.start()
    },
    close: () => closing.abort(),
    async stop() {
      namespaceWatch.stop()
      await events?.stop()
      await recordings.stop()
      await streams?.close()
    },
  }
}

async function none(): Promise<never> {
  throw unavailable('no log store is configured (logs.store)', undefined, 60)
}

import type { Handler } from '../../../apirequest/request-context.ts'
import type { RbacIndex } from '../../../authz/rbac/rbac-index.ts'
import type { RbacCheck } from '../../../authz/review/rbac-check.ts'
import { createNamespaceFinder } from '../../../authz/visibility/accessible-namespaces.ts'
import type { NamespaceIndex } from '../../../authz/visibility/namespace-index.ts'
import type { Config } from '../../../config/config.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { auditEvents, toAuditRecord } from '../../../logs/events/audit-event.ts'
import type { EventKind } from '../../../logs/events/event-kind.ts'
import { EventWriter } from '../../../logs/events/event-writer.ts'
import { kubeEvents } from '../../../logs/events/kube-event.ts'
import { EventFeed } from '../../../logs/events/kube-event-feed.ts'
import type { LogStreams } from '../../../logs/open-store.ts'
import type { LogStore } from '../../../logs/store.ts'
import type { LogConcurrency } from '../../../platformapi/logs/concurrency-limits.ts'
import { createEventApi } from '../../../platformapi/logs/serve-events.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { counter, type Registry } from '../../../telemetry/metrics.ts'

export type EventStreams = {
  readonly events: Handler
  readonly auditing: Handler
  /** Stores an Event of audit.k8s.io/v1 (JSON) in the background; undefined if none are stored. */
  readonly keepAuditEvent: ((event: string) => void) | undefined
  readonly start: () => void
  readonly stop: () => Promise<void>
}

export type EventStreamOptions = {
  readonly client: KubeClient
  readonly config: Config
  readonly live: () => Config
  readonly streams: LogStreams
  readonly bindings: RbacIndex
  readonly rbac: RbacCheck
  readonly namespaces: NamespaceIndex
  readonly logger: Logger
  readonly registry: Registry
  readonly concurrency: LogConcurrency
}

// The same permission as for `kubectl get events`.
const eventPermission = { verb: 'list', group: '', resource: 'events' }
// Audit events are a separate resource, which the ClusterRole `view` does not include: they show
// who did what, and what was denied.
const auditPermission = { verb: 'list', group: 'audit.k8s.io', resource: 'events' }

/** Connects events of kube-apiserver and the audit log with their streams and APIs. */
export function createEventStreams(options: EventStreamOptions): EventStreams {
  const { client, config, live, streams, bindings, rbac, namespaces, logger, registry, concurrency } = options
  const { events, auditing } = config.logs
  const lost = counter(registry, {
    name: 'kapis_logs_lost_events_total',
    help: 'Events that were lost before the log store accepted them, by stream.',
    labels: ['stream'],
  })
  const writerOf = (stream: 'events' | 'auditing', store: LogStore) =>
    new EventWriter({
      store,
      bufferEvents: config.audit.bufferEvents,
      logger: logger.child({ stream }),
      lost: count => lost.inc({ stream }, count),
    })
  const writers = {
    events: writerOf('events', streams.events),
    auditing: writerOf('auditing', streams.auditing),
  }
  const feed = new EventFeed({
    client,
    store: streams.events,
    writer: writers.events,
    logger,
  })
  const eventsApi = (kind: EventKind, store: LogStore, permission: typeof eventPermission) =>
    createEventApi({
      kind,
      store,
      concurrency,
      readable: createNamespaceFinder({ client, index: bindings.of(permission), permission, rbac }),
      created: () => namespaces.created,
      workspaces: () => namespaces.workspaces,
      limits: () => live().logs,
    })

  return {
    events: eventsApi(kubeEvents, streams.events, eventPermission),
    auditing: eventsApi(auditEvents, streams.auditing, auditPermission),
    keepAuditEvent: auditing.enabled
      ? event => {
          const record = toAuditRecord(event)
          // The id is the content: callers can choose the audit ID, and must not be able to replace
          // another event.
          writers.auditing.write({ record, id: `${record.timeNs} ${record.log}` })
        }
      : undefined,
    start() {
      if (events.enabled) feed.start()
    },
    async stop() {
      await feed.stop()
      await Promise.all([writers.events.stop(), writers.auditing.stop()])
    },
  }
}

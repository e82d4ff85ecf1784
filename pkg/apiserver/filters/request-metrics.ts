import type { RequestInfo } from '../../apirequest/request-info.ts'
import { hotCounter } from '../../telemetry/hot-counter.ts'
import { gauge, histogram, type Registry } from '../../telemetry/metrics.ts'

export type RequestMetrics = {
  readonly started: () => void
  /**
   * Counts a finished request.
   *
   * @param info undefined if the request line could not be parsed
   * @param seconds undefined for a long-running request, whose duration is not a latency
   */
  readonly finished: (info: RequestInfo | undefined, code: number, seconds: number | undefined) => void
}

const buckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const labels = ['verb', 'group', 'version', 'resource', 'scope', 'code'] as const
const knownVerbs = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])

/**
 * Creates request metrics with the names of kube-apiserver, so that its dashboards and alerts
 * apply.
 *
 * @param isKnown returns whether group and resource are served. Unknown ones never become label
 * values, since callers could invent them.
 */
export function createRequestMetrics(
  registry: Registry,
  isKnown: (group: string, resource: string) => boolean,
): RequestMetrics {
  const total = hotCounter(registry, { name: 'apiserver_request_total', help: 'Requests completed.', labels })
  const duration = histogram(registry, {
    name: 'apiserver_request_duration_seconds',
    help: 'Duration of requests in seconds, without long-running ones.',
    labels: labels.slice(0, -1),
    buckets,
  })
  let inFlight = 0
  gauge(registry, {
    name: 'apiserver_current_inflight_requests',
    help: 'Requests in flight, including watches.',
    collect: metric => metric.set(inFlight),
  })
  // Children of the metric by label values: looking one up costs more than incrementing it.
  const rows = new Map<string, Row>()
  // Frequent requests share one RequestInfo object (see createLineReader).
  const last = new WeakMap<RequestInfo, { readonly code: number; readonly row: Row }>()
  function rowOf(info: RequestInfo | undefined, code: number): Row {
    const kept = info && last.get(info)
    if (kept?.code === code) return kept.row
    const row = findRow(info, code)
    if (info) last.set(info, { code, row })
    return row
  }
  function findRow(info: RequestInfo | undefined, code: number): Row {
    const values = toLabels(info, isKnown)
    const key = `${values.verb} ${values.group} ${values.version} ${values.resource} ${values.scope} ${code}`
    const known = rows.get(key)
    if (known) return known
    const row = { total: total({ ...values, code: String(code) }), duration: duration.labels(values) }
    rows.set(key, row)
    return row
  }
  return {
    started: () => {
      inFlight++
    },
    finished(info, code, seconds) {
      inFlight--
      const row = rowOf(info, code)
      row.total.inc()
      if (seconds !== undefined && info?.verb !== 'watch') row.duration.observe(seconds)
    },
  }
}

type Row = { readonly total: { inc: () => void }; readonly duration: { observe: (seconds: number) => void } }

const nothing = { verb: 'NONRESOURCE', group: '', version: '', resource: '', scope: '' }

function toLabels(info: RequestInfo | undefined, isKnown: (group: string, resource: string) => boolean) {
  // Resources of a member cluster are not those of this one.
  if (info === undefined || !info.isResource || info.cluster !== '') return nothing
  if (!isKnown(info.group, info.resource)) return nothing
  const { group, version, resource } = info
  const verb = knownVerbs.has(info.verb) ? info.verb.toUpperCase() : 'OTHER'
  return { verb, group, version, resource, scope: toScope(info) }
}

function toScope({ name, namespace }: RequestInfo): string {
  if (name !== '') return 'resource'
  return namespace === '' ? 'cluster' : 'namespace'
}

import type { Config } from '../../config/config.ts'
import { counter, gauge, type Registry } from '../../telemetry/metrics.ts'
import { createMaxInFlight, type MaxInFlight } from './max-in-flight.ts'

export function createMeasuredMaxInFlight(limits: () => Config['limits'], registry: Registry): MaxInFlight {
  const rejected = counter(registry, {
    name: 'kapis_requests_rejected_total',
    help: 'Requests rejected with 429, because too many requests of the user or in total were in flight.',
    labels: ['kind'],
  })
  const inFlight = createMaxInFlight({
    limits() {
      const { requestsInFlight, mutatingRequestsInFlight, longRunningRequests, requestSeconds } = limits()
      return {
        reading: requestsInFlight,
        mutating: mutatingRequestsInFlight,
        lasting: longRunningRequests,
        requestSeconds,
      }
    },
    onRejected: kind => rejected.inc({ kind }),
  })
  gauge(registry, {
    name: 'kapis_requests_queued',
    help: 'Requests that are queued by the in-flight limits.',
    labels: ['kind'],
    collect(queued) {
      for (const kind of ['reading', 'mutating'] as const) queued.set({ kind }, inFlight.waiting(kind))
    },
  })
  return inFlight
}

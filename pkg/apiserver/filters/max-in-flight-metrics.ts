import type { Config } from '../../config/config.ts'
import { counter, gauge, type Registry } from '../../telemetry/metrics.ts'
import { createMaxInFlight, type MaxInFlight } from './max-in-flight.ts'

/** The places for requests, with a metric of those that found none. */
export function createMeasuredMaxInFlight(limits: () => Config['limits'], registry: Registry): MaxInFlight {
  const rejected = counter(registry, {
    name: 'kapis_requests_rejected_total',
    help: 'Requests refused with 429: too many of their user, or of all, were in flight.',
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
    refused: kind => rejected.inc({ kind }),
  })
  gauge(registry, {
    name: 'kapis_requests_queued',
    help: 'Requests that wait for a place.',
    labels: ['kind'],
    collect(queued) {
      for (const kind of ['reading', 'mutating'] as const) queued.set({ kind }, inFlight.waiting(kind))
    },
  })
  return inFlight
}

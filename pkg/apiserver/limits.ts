import type { LimitsConfig } from '../config/limits.ts'
import { counter, type Registry } from '../telemetry/metrics.ts'
import { createInFlight, type InFlight } from './in-flight.ts'

/** The places for requests, with a metric of those that found none. */
export function createLimits(limits: LimitsConfig, registry: Registry): InFlight {
  const rejected = counter(registry, {
    name: 'kapis_requests_rejected_total',
    help: 'Requests refused with 429 because too many were in flight.',
    labels: ['kind'],
  })
  const most = { reading: limits.requestsInFlight, mutating: limits.mutatingRequestsInFlight }
  return createInFlight(most, kind => rejected.inc({ kind }))
}

import type { LiveConfig } from '../config/live.ts'
import { counter, type Registry } from '../telemetry/metrics.ts'
import { createInFlight, type InFlight } from './in-flight.ts'

/** The places for requests, with a metric of those that found none. */
export function createLimits(limits: () => LiveConfig['limits'], registry: Registry): InFlight {
  const rejected = counter(registry, {
    name: 'kapis_requests_rejected_total',
    help: 'Requests refused with 429 because too many were in flight.',
    labels: ['kind'],
  })
  const most = () => {
    const { requestsInFlight: reading, mutatingRequestsInFlight: mutating } = limits()
    return { reading, mutating }
  }
  return createInFlight(most, kind => rejected.inc({ kind }))
}

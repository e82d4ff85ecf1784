import { type Fields, integer, seconds } from './fields.ts'

/** What one replica takes on at once, and for how long. 0 in flight is no limit. */
export type LimitsConfig = {
  readonly requestsInFlight: number
  readonly mutatingRequestsInFlight: number
  readonly longRunningRequests: number
  readonly requestSeconds: number
  readonly stallSeconds: number
  readonly headersSeconds: number
  readonly headerKilobytes: number
}

export const limitsMembers = [
  'requestsInFlight',
  'mutatingRequestsInFlight',
  'longRunningRequests',
  'requestSeconds',
  'stallSeconds',
  'headersSeconds',
  'headerKilobytes',
]

export function parseLimits(fields: Fields): LimitsConfig {
  return {
    // kube-apiserver's own defaults: what it takes on, and it is what most requests end up at.
    requestsInFlight: integer(fields, 'requestsInFlight', { default: 400, min: 0, max: 1_000_000 }),
    mutatingRequestsInFlight: integer(fields, 'mutatingRequestsInFlight', {
      default: 200,
      min: 0,
      max: 1_000_000,
    }),
    // With what it costs, a watch takes half a megabyte.
    longRunningRequests: integer(fields, 'longRunningRequests', { default: 8_192, min: 0, max: 1_000_000 }),
    requestSeconds: seconds(fields, 'requestSeconds', { default: 60, min: 1, max: 3_600 }),
    // As nginx' send_timeout.
    stallSeconds: seconds(fields, 'stallSeconds', { default: 60, min: 1, max: 3_600 }),
    // kube-apiserver has 32 s; a client that needs longer for a few kilobytes is none.
    headersSeconds: seconds(fields, 'headersSeconds', { default: 30, min: 1, max: 300 }),
    // Users with hundreds of groups arrive from kube-apiserver with as many headers.
    headerKilobytes: integer(fields, 'headerKilobytes', { default: 1_024, min: 16, max: 16_384 }),
  }
}

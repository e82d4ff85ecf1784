import { integer, section } from '../option.ts'

/** Concurrency limits and timeouts of a replica. */
export const limits = section({
  // The first two are defaults of kube-apiserver, which serves most of the requests.
  requestsInFlight: integer({
    default: 400,
    min: 0,
    max: 1_000_000,
    isReloaded: true,
    description:
      'Maximum number of concurrent read requests; 0 for no limit. One user gets at most a quarter of them. Further requests are queued for up to a quarter of `limits.requestSeconds`, in turn by user, and then rejected with 429. Members of `system:masters`, and kube-apiserver itself, are exempt.',
  }),
  mutatingRequestsInFlight: integer({
    default: 200,
    min: 0,
    max: 1_000_000,
    isReloaded: true,
    description: 'The same for write requests. A request with a body counts from when its body has arrived.',
  }),
  // A watch takes about half a megabyte.
  longRunningRequests: integer({
    default: 8_192,
    min: 0,
    max: 1_000_000,
    isReloaded: true,
    description:
      'Maximum number of watches, followed logs, `exec` and other upgraded connections; 0 for no limit. One user gets at most a quarter of them; further ones are rejected with 429.',
  }),
  connections: integer({
    default: 10_240,
    min: 0,
    max: 1_000_000,
    isReloaded: true,
    description:
      'Maximum number of connections of each listener; 0 for no limit. At the limit, the newest connection of the address with the most connections is closed when another address connects. A connection takes about 60 KB.',
  }),
  requestSeconds: integer({
    default: 60,
    min: 1,
    max: 3_600,
    isReloaded: true,
    description:
      'Seconds until a request without response headers gets 504; a shorter `?timeout=` takes precedence. Watches, followed logs and upgraded connections have no limit.',
  }),
  // The default of send_timeout in nginx.
  stallSeconds: integer({
    default: 60,
    min: 1,
    max: 3_600,
    isReloaded: true,
    description: 'Seconds until a connection is closed because its client does not read the response.',
  }),
  // kube-apiserver uses 32 s.
  headersSeconds: integer({
    default: 30,
    min: 1,
    max: 300,
    description: 'Seconds that a client has to send the request headers; then 408.',
  }),
  // Twice the limit of nginx (large_client_header_buffers): kube-apiserver sends one header per
  // group, and users may be in hundreds of groups.
  headerKilobytes: integer({
    default: 64,
    min: 16,
    max: 16_384,
    description: 'Maximum size of the request line and headers, in KiB; beyond it 431.',
  }),
  // The line limit of nginx.
  parameterKilobytes: integer({
    default: 8,
    min: 1,
    max: 16_384,
    description:
      'Maximum length of a query parameter, in units of 1,024 characters, of requests that Kapis handles itself; beyond it 400. Requests that are proxied to kube-apiserver are limited only by the size of their headers.',
  }),
})

import type { z } from 'zod'
import { integer, section } from '../option.ts'

/** What one replica takes on at the same time, and for how long. */
export const limits = section({
  // The first two are kube-apiserver's own defaults, since most requests end there.
  requestsInFlight: integer({
    default: 400,
    min: 0,
    max: 1_000_000,
    isReloaded: true,
    description:
      'Reading requests that are answered at the same time, at most; 0 for no limit. One user has at most a quarter of them. Further requests wait for up to a quarter of `limits.requestSeconds`, users by turns, and are then refused with 429. Members of `system:masters`, and kube-apiserver itself, are exempt.',
  }),
  mutatingRequestsInFlight: integer({
    default: 200,
    min: 0,
    max: 1_000_000,
    isReloaded: true,
    description: 'The same for requests that write. A request with a body counts once the body is there.',
  }),
  // A watch takes half a megabyte in all.
  longRunningRequests: integer({
    default: 8_192,
    min: 0,
    max: 1_000_000,
    isReloaded: true,
    description:
      'Watches, followed logs, `exec` and other upgraded connections, at most; 0 for no limit. One user has at most a quarter of them; further ones are refused with 429.',
  }),
  connections: integer({
    default: 10_240,
    min: 0,
    max: 1_000_000,
    isReloaded: true,
    description:
      'Connections of each listener, at most; 0 for no limit. At the limit the address with the most of them gives way: its newest connection is closed for one from elsewhere. Count on 60 KB for each.',
  }),
  requestSeconds: integer({
    default: 60,
    min: 1,
    max: 3_600,
    isReloaded: true,
    description:
      'How long a request may go without the head of an answer before it is 504, in seconds; a shorter `?timeout=` counts. What is served as a watch, a followed log or an upgraded connection has no limit.',
  }),
  // As nginx' send_timeout.
  stallSeconds: integer({
    default: 60,
    min: 1,
    max: 3_600,
    isReloaded: true,
    description:
      'How long an answer may make no progress because its client does not read it, in seconds; then the connection is closed.',
  }),
  // kube-apiserver has 32 s.
  headersSeconds: integer({
    default: 30,
    min: 1,
    max: 300,
    description: 'How long a client may take to send the head of a request, in seconds; then 408.',
  }),
  // Twice what nginx takes (large_client_header_buffers): users with hundreds of groups come from kube-apiserver with as many headers.
  headerKilobytes: integer({
    default: 64,
    min: 16,
    max: 16_384,
    description: 'Size of the head of a request at most, in KiB; then 431.',
  }),
  // As a line of nginx.
  parameterKilobytes: integer({
    default: 8,
    min: 1,
    max: 16_384,
    description:
      'Length of a query parameter at most, in units of 1,024 characters, where Kapis answers by itself; then 400. What goes on to kube-apiserver is limited by its head alone.',
  }),
})

export type LimitsConfig = Readonly<z.output<typeof limits>>

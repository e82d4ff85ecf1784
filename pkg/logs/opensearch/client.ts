import { errors } from '@opensearch-project/opensearch'
import {
  badRequest,
  insufficientStorage,
  type Status,
  timedOut,
  tooManyRequests,
  unavailable,
} from '../../apierrors/status.ts'
import type { ProxyFor } from '../../http/proxy-environment.ts'
import { isRecord } from '../../kubeclient/object.ts'
import { createWorkQueue } from '../../scheduling/concurrency-limiter.ts'
import { createTransport, type SearchCredentials, type SearchEngine, type Transport } from './transport.ts'

export type SearchCall = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly querystring?: Readonly<Record<string, string>>
  readonly body?: object
  /** Newline-delimited JSON, for _bulk. */
  readonly lines?: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Calls to OpenSearch or Elasticsearch. Numbers beyond 2^53 come as bigint. */
export type SearchClient = {
  /** @throws Status 400, 429, 503 with what the engine said, 504, 507 */
  readonly call: (call: SearchCall) => Promise<unknown>
  readonly close: () => Promise<void>
}

// A node's search threads are about as many; more would only wait there, where nobody can tell them to go.
const maxInFlight = 16
const maxWaiting = 256

/** OpenSearch 1 to 3 and Elasticsearch 7.10 to 9: only calls are used that all of them have. */
export function createSearchClient(
  engine: SearchEngine,
  credentials: SearchCredentials,
  proxyFor?: ProxyFor,
): SearchClient {
  const transport = createTransport(engine, credentials, proxyFor)
  const queue = createWorkQueue({
    atOnce: maxInFlight,
    maxWaiting,
    refuse: () => tooManyRequests('too many concurrent log queries', 1),
  })
  return {
    call: call => queue.run(() => send(transport, call), call.signal),
    close: transport.close,
  }
}

async function send(transport: Transport, call: SearchCall): Promise<unknown> {
  const { method, path, querystring = {}, body, lines, timeoutMs, signal } = call
  signal?.throwIfAborted()
  const content = lines === undefined ? (body === undefined ? {} : { body }) : { bulkBody: lines }
  const request = transport.request({ method, path, querystring, ...content }, { requestTimeout: timeoutMs })
  // Returning nothing: abort() returns the request, and what a listener's promise rejects with ends the process.
  const abort = () => {
    request.abort()
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return (await request).body
  } catch (error) {
    signal?.throwIfAborted()
    throw toStatus(error)
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

export const tooSlow = 'the log query timed out'

function toStatus(error: unknown): unknown {
  const cause = toCause(error)
  if (error instanceof errors.TimeoutError) return timedOut(tooSlow)
  if (error instanceof errors.ConnectionError || error instanceof errors.NoLivingConnectionsError) {
    return unavailable('the log store is not responding', cause, 5)
  }
  if (!(error instanceof errors.ResponseError)) return cause
  const code = error.statusCode ?? 500
  const said = reasonOf(error.body)
  // A part of an answer is not asked for, so the engine fails at its time limit: with 500, and Elasticsearch 9 with 429.
  if (said.endsWith(': Time exceeded')) return timedOut(tooSlow)
  if (code === 429 && !said.includes('flood-stage')) return tooManyRequests('the log store is overloaded', 1)
  if (said.includes('flood-stage') || said.includes('cluster_block'))
    return insufficientStorage(`the log store takes no more lines: ${said}`, cause)
  if (/too_many_clauses|too_many_buckets|max_determinized|too complex|query_shard_exception/.test(said)) {
    return badRequest(`the log store refuses the question: ${said}`)
  }
  if (code === 401 || code === 403) return refusedCredentials(cause)
  return unavailable(`the log store answered ${code}: ${said}`, cause, 5)
}

/** It is Kapis that has no right, or no longer: anyone who asked has done nothing wrong, and may ask again once that is fixed. */
export function refusedCredentials(cause: Error): Status {
  return unavailable('the log store refuses the credentials of Kapis', cause, 30)
}

/** What may stand in a log: the client's own errors hold the whole request, credentials included. */
function toCause(error: unknown): Error {
  return error instanceof Error ? new Error(`${error.name}: ${error.message}`) : new Error(String(error))
}

/** Type and reason, innermost first: the outer ones only say that a phase failed. */
export function reasonOf(body: unknown): string {
  const error = isRecord(body) ? body.error : undefined
  if (!isRecord(error)) return typeof error === 'string' ? error.slice(0, 300) : 'no reason given'
  const roots = Array.isArray(error.root_cause) ? error.root_cause.filter(isRecord) : []
  const { type, reason } = roots[0] ?? error
  return `${type}: ${reason}`.slice(0, 300)
}

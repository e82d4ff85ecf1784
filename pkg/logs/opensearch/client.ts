import { errors } from '@opensearch-project/opensearch'
import {
  badRequest,
  insufficientStorage,
  Status,
  timedOut,
  tooManyRequests,
  unavailable,
} from '../../apierrors/status.ts'
import type { ProxyFor } from '../../http/proxy-environment.ts'
import { BodyTooLargeError, readBody } from '../../http/read-body.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { createConcurrencyLimiter } from '../../scheduling/concurrency-limiter.ts'
import { parseExactJson } from '../field-values.ts'
import { createTransport, type SearchCredentials, type SearchEngine, type Transport } from './transport.ts'

export type SearchCall = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly querystring?: Readonly<Record<string, string>>
  readonly body?: object
  /** Newline-delimited JSON, for _bulk. */
  readonly lines?: string
  readonly timeoutMs: number
  /** Maximum size of the response in bytes. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

/** A client for OpenSearch and Elasticsearch. Integers beyond 2^53 are bigint. */
export type SearchClient = {
  /**
   * Sends a request. @throws Status 400, 429, 503 with the message of the search engine, 504, 507;
   * BodyTooLargeError
   */
  readonly call: (call: SearchCall) => Promise<unknown>
  readonly close: () => Promise<void>
}

// Maximum number of concurrent requests: about the search threads of a node, where more would queue
// and could not be cancelled.
const maxInFlight = 16
const maxWaiting = 256
// Larger than the response to a maximum batch, which has a result for each line.
const maxResponseBytes = 64 * 1024 * 1024

/**
 * Creates a client for OpenSearch 1 to 3 and Elasticsearch 7.10 to 9. Callers only use requests
 * that all of these support.
 */
export function createSearchClient(
  engine: SearchEngine,
  credentials: SearchCredentials,
  proxyFor?: ProxyFor,
): SearchClient {
  const transport = createTransport(engine, credentials, proxyFor)
  const createQueue = (what: string) =>
    createConcurrencyLimiter({
      atOnce: maxInFlight,
      maxWaiting,
      refuse: () => tooManyRequests(`too many concurrent ${what}`, 1),
    })
  // Separate queues, so that ingest does not wait for searches.
  const [searches, batches] = [createQueue('log queries'), createQueue('batches of logs')]
  return {
    call(call) {
      const queue = call.lines === undefined ? searches : batches
      return queue.run(() => send(transport, call), call.signal)
    },
    close: transport.close,
  }
}

async function send(transport: Transport, call: SearchCall): Promise<unknown> {
  const { method, path, querystring = {}, body, lines, timeoutMs, maxBytes = maxResponseBytes, signal } = call
  signal?.throwIfAborted()
  const content = lines === undefined ? (body === undefined ? {} : { body }) : { bulkBody: lines }
  const late = AbortSignal.timeout(timeoutMs)
  const ended = signal === undefined ? late : AbortSignal.any([late, signal])
  // Streamed, because the client library otherwise reads responses of any size, and rejects records
  // with a field `__proto__`.
  const options = { requestTimeout: timeoutMs, asStream: true }
  const request = transport.request({ method, path, querystring, ...content }, options)
  // Returns nothing: abort() returns the request, and a rejected promise from a listener would
  // crash the process.
  const abort = () => {
    request.abort()
  }
  ended.addEventListener('abort', abort, { once: true })
  try {
    const response = await request
    const text = (await readBody(response.body, maxBytes)).toString('utf8')
    const isJson = (response.headers?.['content-type'] ?? '').includes('json')
    const answer = isJson ? parseExactJson(text) : text
    const code = response.statusCode ?? 500
    if (code >= 400) throw toRefusal(code, answer)
    return answer
  } catch (error) {
    signal?.throwIfAborted()
    if (late.aborted) throw timedOut(tooSlow)
    throw toStatus(error)
  } finally {
    ended.removeEventListener('abort', abort)
  }
}

export const tooSlow = 'the log query timed out'

/** The cause of a Status for an error response of the search engine. */
export class SearchEngineError extends Error {
  readonly code: number

  constructor(code: number, reason: string) {
    super(`the log store responded with ${code}: ${reason}`)
    this.code = code
  }
}

function toStatus(error: unknown): unknown {
  if (error instanceof Status || error instanceof BodyTooLargeError) return error
  const cause = toCause(error)
  if (error instanceof errors.TimeoutError) return timedOut(tooSlow)
  const isNoAnswer =
    error instanceof errors.ConnectionError ||
    error instanceof errors.NoLivingConnectionsError ||
    error instanceof SyntaxError ||
    (error instanceof Error && 'code' in error)
  return isNoAnswer ? unavailable('the log store is not responding', cause, 5) : cause
}

/** Converts an error response of the search engine to a Status. */
function toRefusal(code: number, answer: unknown): Status {
  const said = reasonOf(answer)
  const cause = new SearchEngineError(code, said)
  // Partial results are disabled, so the search engine fails at its timeout: with 500, or with 429
  // in Elasticsearch 9.
  if (said.endsWith(': Time exceeded')) return timedOut(tooSlow)
  if (code === 429 && !said.includes('flood-stage')) return tooManyRequests('the log store is overloaded', 1)
  if (said.includes('flood-stage') || said.includes('cluster_block'))
    return insufficientStorage(`the log store rejects new lines: ${said}`, cause)
  if (/too_many_clauses|too_many_buckets|max_determinized|too complex|query_shard_exception/.test(said)) {
    return badRequest(`the log store rejected the query: ${said}`)
  }
  if (code === 401 || code === 403) return refusedCredentials(cause)
  return unavailable(cause.message, cause, 5)
}

/**
 * Returns the error if Kapis lacks a permission. It is 503, because the caller is not at fault and
 * may retry later.
 */
export function refusedCredentials(cause: Error): Status {
  return unavailable('the log store rejected the credentials of Kapis', cause, 30)
}

/**
 * Returns an error that is safe to log. Errors of the client library contain the whole request with
 * its credentials.
 */
function toCause(error: unknown): Error {
  return error instanceof Error ? new Error(`${error.name}: ${error.message}`) : new Error(String(error))
}

/**
 * Returns type and reason of an error's root cause: the outer error only names the failed phase.
 */
export function reasonOf(body: unknown): string {
  const error = isRecord(body) ? body.error : undefined
  if (!isRecord(error)) return typeof error === 'string' ? error.slice(0, 300) : 'no reason given'
  const roots = Array.isArray(error.root_cause) ? error.root_cause.filter(isRecord) : []
  const { type, reason } = roots[0] ?? error
  return `${type}: ${reason}`.slice(0, 300)
}

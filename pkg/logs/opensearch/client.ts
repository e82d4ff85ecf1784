import {
  badRequest,
  insufficientStorage,
  Status,
  timedOut,
  tooManyRequests,
  unavailable,
} from '../../apierrors/status.ts'
import { createAgent } from '../../http/pool.ts'
import type { ProxyFor } from '../../http/proxy-environment.ts'
import { readBody } from '../../http/read-body.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { createConcurrencyLimiter } from '../../scheduling/concurrency-limiter.ts'
import { parseExactJson } from '../field-values.ts'

export type SearchEngine = {
  readonly url: string
  readonly username: string
  /** CA certificate of the server in PEM; '' for those of the system. */
  readonly ca: string
}
export type SearchCredentials = { readonly password: string; readonly apiKey: string }

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
  /** Sends a request. @throws Status 400, 429, 503 (of the engine), 504, 507; BodyTooLargeError */
  readonly call: (call: SearchCall) => Promise<unknown>
  readonly close: () => Promise<void>
}

// Maximum number of concurrent requests: about the search threads of a node, where more would queue
// and could not be cancelled.
const maxInFlight = 16
const maxWaiting = 256
// Requests have their own deadlines. No retries: a batch could be stored twice.
const connections = {
  connections: 2 * maxInFlight,
  ...{ connectMs: 10_000, headMs: 0, bodyMs: 0, idleMs: 30_000 },
  maxHeadBytes: 16 * 1024,
}

// Larger than the response to a maximum batch, which has a result for each line.
const maxResponseBytes = 64 * 1024 * 1024

/** Creates a client for what OpenSearch 1 to 3 and Elasticsearch 7.10 to 9 have in common. */
export function createSearchClient(
  engine: SearchEngine,
  credentials: SearchCredentials,
  proxyFor?: ProxyFor,
): SearchClient {
  const agent = createAgent(engine.ca === '' ? {} : { ca: engine.ca }, connections, proxyFor)
  const authorization = toAuthorization(engine, credentials)
  const { origin } = new URL(engine.url)
  const createQueue = (what: string) =>
    createConcurrencyLimiter({
      maxConcurrent: maxInFlight,
      maxWaiting,
      rejection: () => tooManyRequests(`too many concurrent ${what}`, 1),
    })
  // Separate queues, so that ingest does not wait for searches.
  const [searches, batches] = [createQueue('log queries'), createQueue('batches of logs')]

  async function request(call: SearchCall, signal: AbortSignal): Promise<unknown> {
    const { method, path, querystring, body, lines, maxBytes = maxResponseBytes } = call
    const response = await agent.request({
      ...{ origin, method, path, signal },
      ...(querystring && { query: querystring }),
      headers: {
        accept: 'application/json',
        'content-type': lines === undefined ? 'application/json' : 'application/x-ndjson',
        ...authorization,
      },
      body: lines ?? (body === undefined ? null : JSON.stringify(body)),
    })
    const text = (await readBody(response.body, maxBytes)).toString('utf8')
    const isJson = String(response.headers['content-type']).includes('json')
    const parsed = isJson ? parseExactJson(text) : text
    if (response.statusCode >= 400) throw toStatus(response.statusCode, parsed)
    return parsed
  }
  async function send(call: SearchCall): Promise<unknown> {
    const { timeoutMs, signal } = call
    signal?.throwIfAborted()
    const late = AbortSignal.timeout(timeoutMs)
    try {
      return await request(call, signal === undefined ? late : AbortSignal.any([late, signal]))
    } catch (error) {
      signal?.throwIfAborted()
      if (late.aborted) throw timedOut(tooSlow)
      throw isNoResponse(error) ? unavailable('the log store is not responding', error, 5) : error
    }
  }
  return {
    call: call => (call.lines === undefined ? searches : batches).run(() => send(call), call.signal),
    close: () => agent.destroy(),
  }
}

function toAuthorization({ username }: SearchEngine, { password, apiKey }: SearchCredentials) {
  if (apiKey !== '') return { authorization: `ApiKey ${apiKey}` }
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  return username === '' ? {} : { authorization: `Basic ${basic}` }
}

/** Returns whether an error is about the connection, or a response that is not JSON. */
function isNoResponse(error: unknown): boolean {
  if (error instanceof Status || !(error instanceof Error)) return false
  return error instanceof SyntaxError || 'code' in error
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

/** Converts an error response of the search engine to a Status. */
function toStatus(code: number, response: unknown): Status {
  const reason = reasonOf(response)
  const cause = new SearchEngineError(code, reason)
  // Partial results are disabled, so the search engine fails at its timeout: with 500, or with 429
  // in Elasticsearch 9.
  if (reason.endsWith(': Time exceeded')) return timedOut(tooSlow)
  if (code === 429 && !reason.includes('flood-stage'))
    return tooManyRequests('the log store is overloaded', 1)
  if (reason.includes('flood-stage') || reason.includes('cluster_block'))
    return insufficientStorage(`the log store rejects new lines: ${reason}`, cause)
  if (/too_many_clauses|too_many_buckets|max_determinized|too complex|query_shard_exception/.test(reason)) {
    return badRequest(`the log store rejected the query: ${reason}`)
  }
  if (code === 401 || code === 403) return rejectedCredentials(cause)
  return unavailable(cause.message, cause, 5)
}

/** Returns the error of a missing permission of Kapis: a 503, for a later retry. */
export function rejectedCredentials(cause: Error): Status {
  return unavailable('the log store rejected the credentials of Kapis', cause, 30)
}

/** Returns type and reason of the root cause: the outer error names only the phase. */
export function reasonOf(body: unknown): string {
  const error = isRecord(body) ? body.error : undefined
  if (!isRecord(error)) return typeof error === 'string' ? error.slice(0, 300) : 'no reason given'
  const roots = Array.isArray(error.root_cause) ? error.root_cause.filter(isRecord) : []
  const { type, reason } = roots[0] ?? error
  return `${type}: ${reason}`.slice(0, 300)
}

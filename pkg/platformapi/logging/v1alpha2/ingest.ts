import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  badRequest,
  methodNotAllowed,
  Status,
  tooManyRequests,
  unavailable,
  unknownResource,
} from '../../../apierrors/status.ts'
import type { Identity } from '../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { mediaTypeOf } from '../../../httpserver/request/body.ts'
import { send, sendParts } from '../../../httpserver/response/respond.ts'
import { errorTypeOf } from '../../../logs/ingest/elasticsearch/batch.ts'
import {
  filterOfMember,
  filterValue,
  type PathFilter,
  parseFilterPath,
} from '../../../logs/ingest/elasticsearch/filter-path.ts'
import type { IngestLimits } from '../../../logs/ingest/limits.ts'
import type { BatchForm, IngestResult, Protocol } from '../../../logs/ingest/raw-batch.ts'
import type { LogStore } from '../../../logs/store.ts'
import { createConcurrencyLimiter } from '../../../scheduling/concurrency-limiter.ts'
import { contentTypeOf, responseToClient } from './elasticsearch.ts'
import { readBody } from './read-body.ts'
import { type BodyMemory, createUploadLimiter } from './upload-limiter.ts'

export type IngestOptions = {
  readonly store: Pick<LogStore, 'ingest'>
  readonly limits: IngestLimits
  /** Authorizes sending logs. @throws Status 401, 403, 503 */
  readonly authorize: (identity: Identity) => Promise<void> | void
  /** Called for each batch. */
  readonly observe: (
    protocol: Protocol,
    lines: Pick<IngestResult, 'stored' | 'rejected' | 'changed' | 'causes'>,
  ) => void
  /** Reserves a slot for an upload, or waits. @throws Status 429, also through the promise */
  readonly enter: (user: string, res: ServerResponse) => Slot | Promise<Slot>
  readonly bodyWithinMs?: number
}

/** A reserved slot; `leave` releases it. */
export type Slot = { readonly leave: () => void }

// Maximum number of batches being stored, whose lines are in memory.
const maxBatches = 8
/** Maximum number of batches in upload or storage, more than maxBatches for slow senders. */
export const maxBodies = 64
// Timeout of an upload, since it occupies a slot that others wait for.
const defaultWithinMs = 30_000
const retrySeconds = 5
const json = 'application/json'
const protobuf = 'application/x-protobuf'
// The default Content-Type of curl --data-binary, for data of any type.
const curlsOwn = 'application/x-www-form-urlencoded'
const elasticTypes = ['application/vnd.elasticsearch+json', 'application/vnd.elasticsearch+x-ndjson']
const bulkTypes = ['application/x-ndjson', json, ...elasticTypes, curlsOwn]
const documentTypes = [json, ...elasticTypes, curlsOwn]
const lineTypes = [
  'application/x-ndjson',
  'application/jsonl',
  'application/jsonlines',
  // As in the documentation of VictoriaLogs.
  'application/stream+json',
  json,
  'text/plain',
  curlsOwn,
]

/**
 * Serves `POST …/ingest/_bulk`, `/ingest/{index}/_bulk`, `/ingest/{index}/_doc`, `/ingest/jsonlines`,
 * `/ingest/v1/logs`, `/ingest/loki/api/v1/push`, and the setup requests of Elasticsearch clients. The
 * response is sent after the store has written the lines to disk.
 *
 * @throws Status 400, 401, 403, 404, 405, 408, 413, 415, 429, 503, 507
 */
export function createIngest(options: IngestOptions): Handler {
  const { store, limits, authorize, observe, enter, bodyWithinMs = defaultWithinMs } = options
  const beginBody = createUploadLimiter(maxBatches * limits.batchBytes)
  const rejection = () => tooManyRequests('too many batches in progress; retry later', 1)
  const storing = createConcurrencyLimiter({ maxConcurrent: maxBatches, maxWaiting: maxBodies, rejection })

  const takeFor =
    ({ hold }: BodyMemory): ReceiveBatch =>
    async (req, mediaTypes, form, assumed) => {
      const body = await readBody(req, {
        mediaTypes,
        limitBytes: limits.batchBytes,
        withinMs: bodyWithinMs,
        hold,
        ...(assumed === undefined ? {} : { assumed }),
      })
      const ingested = await storing.run(() => store.ingest({ ...form, body, limits }))
      const { stored, rejected, changed, causes } = ingested
      observe(form.protocol, { stored, rejected, changed, ...(causes === undefined ? {} : { causes }) })
      return ingested
    }

  async function authorizeFor(handle: Handle, identity: Identity): Promise<void> {
    try {
      await authorize(identity)
    } catch (error) {
      throw handle === ingestOtlp || handle === ingestLoki ? toRetryable(error) : error
    }
  }

  return async exchange => {
    const { req, res, info, identity } = exchange
    const parts = info.parts.slice(1).filter(part => part !== '')
    const handle = handlerOf(parts)
    // Elasticsearch clients reject responses without this header, even if the lines were stored.
    const isElastic = handle === undefined || handle === ingestBulk || handle === ingestDocument
    if (isElastic) res.setHeader('x-elastic-product', 'Elasticsearch')
    if (handle === undefined) {
      const response = responseToClient(parts, req.method ?? 'GET')
      if (response === undefined) throw unknownResource()
      await authorize(identity)
      return sendElastic(exchange, 200, filterValue(response, filterOf(exchange)) ?? {})
    }
    // As in Elasticsearch, PUT requires the ID of the document.
    const methods = handle === ingestDocument && parts.length === 2 ? ['POST'] : ['POST', 'PUT']
    if (!methods.includes(req.method ?? 'GET')) throw methodNotAllowed(methods)
    await authorizeFor(handle, identity)
    const slot = await enter(identity.username, res)
    const held = beginBody()
    try {
      // The client may have disconnected while the request was waiting.
      if (!res.destroyed) await handle(takeFor(held), exchange)
    } finally {
      held.end()
      slot.leave()
    }
  }
}

/** Stores the lines of a request. @throws Status 400, 408, 413, 415, 429, 503, 507 */
type ReceiveBatch = (
  req: IncomingMessage,
  mediaTypes: readonly string[],
  form: BatchForm,
  assumed?: string,
) => Promise<IngestResult>
type Handle = (take: ReceiveBatch, exchange: AuthenticatedExchange) => Promise<void>

function handlerOf(parts: readonly string[]): Handle | undefined {
  const path = parts.join('/')
  // Before version 8, an index has types: /{index}/{type}/_bulk.
  if (parts.at(-1) === '_bulk' && parts.length <= 3) return ingestBulk
  const [index = '', api, id, ...more] = parts
  const isDocument = api === '_doc' || (api === '_create' && id !== undefined)
  if (isDocument && more.length === 0 && !index.startsWith('_')) return ingestDocument
  if (path === 'jsonlines') return ingestLines
  if (path === 'loki/api/v1/push') return ingestLoki
  return path === 'v1/logs' ? ingestOtlp : undefined
}

const ingestBulk: Handle = async (take, exchange) => {
  const { req, res, info, query } = exchange
  const startedAt = performance.now()
  const index = info.parts.length > 2 ? (info.parts[1] ?? '') : ''
  const filterPath = query.first('filter_path') ?? ''
  const { response } = await take(req, bulkTypes, { protocol: 'bulk', index, filterPath })
  const hasTook = filterOfMember(filterOf(exchange), 'took')?.includes === 'all'
  const took = hasTook ? `"took":${Math.round(performance.now() - startedAt)}` : ''
  const head = Buffer.from(`{${took}${took !== '' && response.length > 0 ? ',' : ''}`)
  sendParts(res, 200, [head, response, Buffer.from('}\n')], { 'content-type': contentTypeOf(req) })
}

function filterOf({ query }: AuthenticatedExchange): PathFilter {
  return parseFilterPath(query.first('filter_path') ?? '')
}

/** Stores a document. Without an ID it gets a new one, so that it is never taken for a repetition. */
const ingestDocument: Handle = async (take, exchange) => {
  const [index = '', , id = randomUUID()] = exchange.info.parts.slice(1)
  const form = { protocol: 'document', index, id } as const
  const { response, rejection: reason, causes } = await take(exchange.req, documentTypes, form)
  if (reason === undefined) {
    const document: unknown = JSON.parse(Buffer.from(response).toString())
    return sendElastic(exchange, 201, filterValue(document, filterOf(exchange)) ?? {})
  }
  const error = { type: errorTypeOf(causes?.quota ? 'quota' : causes?.time ? 'time' : undefined), reason }
  sendElastic(exchange, 400, { error: { root_cause: [error], ...error }, status: 400 })
}

function sendElastic({ req, res }: AuthenticatedExchange, code: number, response: unknown): void {
  send(res, code, Buffer.from(`${JSON.stringify(response)}\n`), { 'content-type': contentTypeOf(req) })
}

const ingestLines: Handle = async (take, { req, res }) => {
  const { response, rejection } = await take(req, lineTypes, { protocol: 'jsonlines' })
  if (rejection !== undefined) throw badRequest(rejection)
  sendParts(res, 200, [response], { 'content-type': json })
}

const ingestOtlp: Handle = async (take, { req, res }) => {
  const isProtobuf = mediaTypeOf(req) === protobuf
  const encoding = isProtobuf ? 'protobuf' : 'json'
  const { response } = await take(req, [json, protobuf], { protocol: 'otlp', encoding }).catch(throwRetryable)
  sendParts(res, 200, [response], { 'content-type': isProtobuf ? protobuf : json })
}

const ingestLoki: Handle = async (take, { req, res }) => {
  // Clients that send protobuf may omit Content-Type and Content-Encoding.
  const encoding = mediaTypeOf(req) === json ? 'json' : 'protobuf'
  const assumed = encoding === 'json' ? undefined : 'snappy'
  const { rejection } = await take(req, [json, protobuf], { protocol: 'loki', encoding }, assumed).catch(
    throwRetryable,
  )
  if (rejection !== undefined) throw badRequest(rejection)
  res.writeHead(204).end()
}

function throwRetryable(error: unknown): never {
  throw toRetryable(error)
}

/**
 * Converts errors to those after which a client retries; after any other error it drops the batch.
 * OTLP exporters retry only after 429, 502, 503 and 504 (OTLP 1.9, OTLP/HTTP Response), Loki
 * clients after 429 and 5xx. A missing permission may be temporary too.
 */
function toRetryable(error: unknown): unknown {
  if (!(error instanceof Status)) return error
  if (error.code === 403) return tooManyRequests(error.message, retrySeconds)
  const isForLater = error.code === 408 || error.code === 507
  return isForLater ? unavailable(error.message, error.cause, retrySeconds) : error
}

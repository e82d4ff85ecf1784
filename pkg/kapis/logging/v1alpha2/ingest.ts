import { randomUUID } from 'node:crypto'
import { type BulkItem, parseBulk } from '../../../logs/ingest/bulk.ts'
import type { Line } from '../../../logs/ingest/document.ts'
import { parseJsonLines } from '../../../logs/ingest/json-lines.ts'
import type { AuthenticatedExchange, Handler } from '../../../request/exchange.ts'
import { collect, send, sendJson } from '../../../request/respond.ts'
import { badRequest, methodNotAllowed, tooManyRequests, unknownResource } from '../../../status/status.ts'
import { checkCount, type IngestMeans, type IngestOptions, type Taken } from './batch.ts'
import { readBody } from './body.ts'
import { ingestOtlp } from './otlp.ts'

// Each holds its body and its lines in memory.
const maxBatches = 8
const maxListed = 100
// curl's --data-binary says so of whatever it sends.
const curlsOwn = 'application/x-www-form-urlencoded'
const bulkTypes = [
  'application/x-ndjson',
  'application/json',
  'application/vnd.elasticsearch+x-ndjson',
  curlsOwn,
]
const lineTypes = [
  'application/x-ndjson',
  'application/jsonl',
  'application/jsonlines',
  'application/json',
  'text/plain',
  curlsOwn,
]

/**
 * `POST …/ingest/_bulk`, `/ingest/{index}/_bulk`, `/ingest/jsonlines` and `/ingest/v1/logs`. An answer that says "stored" is
 * sent once the store has the lines on its disk.
 *
 * @throws Status 400, 401, 403, 404, 405, 413, 415, 429, 503, 507
 */
export function createIngest(options: IngestOptions): Handler {
  let batches = 0

  async function take(lines: readonly Line[]): Promise<Taken> {
    const problems = new Map<number, string>()
    const places: number[] = []
    const records = lines.flatMap(({ record, problem }, i) => {
      if (record === undefined) problems.set(i, problem)
      else places.push(i)
      return record ?? []
    })
    if (records.length === 0) return { taken: 0, problems }
    const { rejected } = await options.store.append({ records })
    for (const { index, reason } of rejected) problems.set(places[index] ?? index, reason)
    return { taken: records.length - rejected.length, problems }
  }

  return async exchange => {
    const { req, info, identity } = exchange
    const handle = handlerOf(info.parts.slice(1))
    if (handle === undefined) throw unknownResource()
    if (req.method !== 'POST' && req.method !== 'PUT') throw methodNotAllowed(['POST', 'PUT'])
    await options.authorize(identity)
    if (batches >= maxBatches)
      throw tooManyRequests('too many batches are being stored; send this one again', 1)
    batches++
    try {
      await handle({ ...options, take }, exchange)
    } finally {
      batches--
      // What is left of a body that was refused need not be read to keep the connection.
      if (!req.complete) exchange.res.shouldKeepAlive = false
    }
  }
}

type Handle = (means: IngestMeans, exchange: AuthenticatedExchange) => Promise<void>

function handlerOf(parts: readonly string[]): Handle | undefined {
  const path = parts.join('/')
  if (path === '_bulk' || (parts.length === 2 && parts[1] === '_bulk')) return ingestBulk
  if (path === 'jsonlines') return ingestLines
  return path === 'v1/logs' ? ingestOtlp : undefined
}

const ingestBulk: Handle = async ({ limits, observe, take, turns }, { req, res, info }) => {
  const startedAt = performance.now()
  const body = await readBody(req, { mediaTypes: bulkTypes, limitBytes: limits.batchBytes })
  const index = info.parts.length === 3 ? (info.parts[1] ?? '') : ''
  await turns.next()
  const items = await collect(parseBulk(body, index, limits), turns)
  checkCount(items, limits)
  const { taken, problems } = await take(items)
  observe('bulk', { taken, refused: problems.size })
  await turns.next()
  const answers = await collect(toItemAnswers(items, problems), turns)
  const took = Math.round(performance.now() - startedAt)
  const text = `{"took":${took},"errors":${problems.size > 0},"items":[${answers.join()}]}\n`
  send(res, 200, Buffer.from(text), { 'content-type': 'application/json' })
}

function* toItemAnswers(
  items: readonly BulkItem[],
  problems: ReadonlyMap<number, string>,
): Generator<string> {
  for (const [i, item] of items.entries()) {
    yield JSON.stringify({ [item.action]: toItemAnswer(item, problems.get(i)) })
  }
}

function toItemAnswer({ index, id }: BulkItem, problem: string | undefined): object {
  const named = { _index: index || 'logs', _id: id || randomUUID() }
  if (problem !== undefined) {
    return { ...named, status: 400, error: { type: 'document_parsing_exception', reason: problem } }
  }
  return { ...named, _version: 1, result: 'created', status: 201 }
}

const ingestLines: Handle = async ({ limits, observe, take, turns }, { req, res }) => {
  const body = await readBody(req, { mediaTypes: lineTypes, limitBytes: limits.batchBytes })
  await turns.next()
  const lines = await collect(parseJsonLines(body, limits), turns)
  checkCount(lines, limits)
  const { taken, problems } = await take(lines)
  observe('jsonlines', { taken, refused: problems.size })
  const errors = [...problems]
    .sort(([a], [b]) => a - b)
    .slice(0, maxListed)
    .map(([i, reason]) => ({ line: lines[i]?.line ?? i + 1, reason }))
  const [first] = errors
  if (first !== undefined && taken === 0) {
    throw badRequest(`none of ${lines.length} lines was taken; line ${first.line}: ${first.reason}`)
  }
  sendJson(res, 200, { accepted: taken, rejected: problems.size, ...(first ? { errors } : {}) })
}

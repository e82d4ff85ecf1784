import type { ServerResponse } from 'node:http'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { acceptsServerSentEvents } from '../../httpserver/response/event-stream.ts'
import { createPacedWriter, pieceBytes } from '../../httpserver/response/respond.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import { tooMuchText } from '../../logs/query/page-parameters.ts'
import type { Hit, LogStore, QueryLimits } from '../../logs/store.ts'
import { type PermissionTimes, watchPermission } from './permission-watch.ts'
import { toRecordJson } from './record-json.ts'

export type Follow = {
  readonly filter: LogFilter | undefined
  /** Number of recent records to send first. */
  readonly size: number
  readonly withCursor: boolean
  /** Returns whether the filter still matches the permissions; called periodically. */
  readonly isPermitted: () => Promise<boolean>
  /** Formats records as they arrive; by default in the format of the log API. */
  readonly format?: (hits: readonly Hit[]) => string | Promise<string>
  /** Returns the records to send first, oldest first, in place of the `size` most recent ones. */
  readonly begin?: () => Promise<readonly Hit[]>
}

// Comments keep the connection alive: proxies may close connections without traffic.
const commentEveryMs = 15_000
// Maximum number of records per chunk, since a format may make records larger.
const chunkSize = 50
// A client that does not read one chunk within this time is disconnected.
const stalledAfterMs = 60_000

/**
 * Sends the newest records, and then new ones as they arrive. Ends when the client disconnects, the
 * program stops, or the permission is revoked or cannot be checked for five minutes. Sends one JSON
 * object per line, or server-sent events if the client accepts them. The store limits the buffer of
 * a slow client; a client that does not read at all is disconnected.
 *
 * @throws Status 503 if permissions cannot be checked
 */
export async function sendFollow(
  store: LogStore,
  { req, res, markLongRunning }: AuthenticatedExchange,
  request: Follow,
  limits: QueryLimits & PermissionTimes & { readonly signal: AbortSignal; readonly stalledMs?: number },
): Promise<void> {
  const isEvents = request.format === undefined && acceptsServerSentEvents(req)
  const head = {
    'content-type': isEvents ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson',
    'cache-control': 'no-cache, private, no-transform',
    'x-content-type-options': 'nosniff',
  }
  if (req.method === 'HEAD') {
    res.writeHead(200, head).end()
    return
  }
  const end = new AbortController()
  const signal = AbortSignal.any([limits.signal, end.signal])
  const { filter } = request
  // Subscribes before the newest records are read, so that none is missed in between.
  const arriving = filter && store.follow(filter, signal)[Symbol.asyncIterator]()
  const first = arriving?.next()
  first?.catch(() => undefined)
  const newest = await (request.begin?.() ?? readNewest(store, request, limits)).catch(error => {
    end.abort()
    throw error
  })
  markLongRunning?.()
  res.writeHead(200, head)
  res.flushHeaders()
  const write = createTailWriter(res, limits.stalledMs ?? stalledAfterMs)
  const format = request.format ?? createFormat(isEvents, request.withCursor)
  const send = async (hits: readonly Hit[]) => {
    for (let i = 0; i < hits.length && !signal.aborted; i += chunkSize) {
      const text = await format(hits.slice(i, i + chunkSize))
      if (text !== '') await write(Buffer.from(text))
    }
  }
  const permission = watchPermission(request.isPermitted, () => end.abort(), limits)
  // Not within an event, which may be written in pieces.
  const comment = () => {
    if (!res.writableNeedDrain) res.write(':\n\n')
  }
  const comments = isEvents ? setInterval(comment, commentEveryMs) : undefined
  try {
    await send(newest)
    const seen = new Set(newest.map(({ cursor }) => cursor))
    if (first === undefined) await untilAborted(signal)
    for (let next = await first; next !== undefined && !next.done; next = await arriving?.next()) {
      const fresh = seen.size > 0 ? next.value.filter(({ cursor }) => !seen.delete(cursor)) : next.value
      if (fresh.length > 0) await send(fresh)
      if (signal.aborted) break
    }
    permission.throwIfUnchecked()
    res.end()
  } finally {
    permission.stop()
    clearInterval(comments)
    end.abort()
  }
}

/** Returns a function that writes as fast as the client reads, and disconnects if it stops. */
function createTailWriter(res: ServerResponse, stalledMs: number): (text: Buffer) => Promise<void> {
  const write = createPacedWriter(res)
  return async text => {
    for (let at = 0; at < text.length && !res.destroyed; at += pieceBytes) {
      const written = write(text.subarray(at, at + pieceBytes))
      if (!(written instanceof Promise)) continue
      const timer = setTimeout(() => res.destroy(), stalledMs)
      await written.finally(() => clearTimeout(timer))
    }
  }
}

function createFormat(isEvents: boolean, withCursor: boolean): (hits: readonly Hit[]) => string {
  return hits => {
    const lines = hits.map(hit => toRecordJson(hit, withCursor))
    return lines.map(line => (isEvents ? `data: ${line}\n\n` : `${line}\n`)).join('')
  }
}

async function readNewest(store: LogStore, { filter, size }: Follow, limits: QueryLimits) {
  if (filter === undefined || size === 0) return []
  const query = { filter, order: 'desc', size, start: { from: 0 }, withTotal: false } as const
  const { hits, isCut } = await store.query(query, limits)
  if (isCut) throw tooMuchText('size', hits.length)
  return hits.toReversed()
}

function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise
}

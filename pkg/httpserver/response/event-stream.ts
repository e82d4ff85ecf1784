import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import type { Exchange } from '../../apirequest/request-context.ts'
import { type Clause, covers, parseAccept } from '../request/accept-clause.ts'
import { isWebSocket, readHandshake } from '../websocket/handshake.ts'
import { openWebSocket } from '../websocket/web-socket.ts'
import { sendOwnChunks, toChunk } from './chunked-body.ts'
import { pieceBytes } from './respond.ts'

/** Writes the events of a watch to the client. */
export type EventStream = {
  /** Identifies the framing: streams with the same name can share encoded events. */
  readonly name: 'body' | 'chunked body' | 'server-sent events' | 'chunked server-sent events'
  /** Returns whether the client has disconnected. */
  readonly isGone: () => boolean
  /** Sends status 200 or 101, after which no error response is possible. */
  readonly open: () => Writable
  readonly frame: (event: Buffer) => Buffer
  /** Like `frame`, for an event in parts. Returns chunks large enough for a write. */
  readonly pieces: (event: Iterable<Buffer>) => Iterable<Buffer>
}

type StreamedExchange = Pick<Exchange, 'req' | 'res' | 'upgrade' | 'markLongRunning' | 'openWatch'>

/**
 * Returns the response body or, for a handshake, a WebSocket with a message per event.
 *
 * @param receive handles a text message of a WebSocket, see openWebSocket
 * @throws Status 400 for an invalid handshake
 */
export function toEventStream(
  { req, res, upgrade, markLongRunning, openWatch }: StreamedExchange,
  contentType: string,
  receive?: (message: string) => Promise<void>,
): EventStream {
  if (openWatch !== undefined)
    return { name: 'body', isGone: () => false, open: openWatch, frame: event => event, pieces: inPieces }
  const isGone = () => res.destroyed
  if (upgrade !== undefined && isWebSocket(req)) {
    const protocol = readHandshake(req)
    return {
      name: 'body',
      isGone,
      open() {
        markLongRunning?.()
        return openWebSocket({ req, res }, { protocol, head: upgrade, ...(receive && { receive }) })
      },
      frame: event => event,
      pieces: inPieces,
    }
  }
  // HTTP/1.0 has no chunked encoding: the body ends when the connection closes.
  const isChunked = res.useChunkedEncodingByDefault
  return {
    name: isChunked ? 'chunked body' : 'body',
    isGone,
    open() {
      markLongRunning?.()
      res.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-cache, private' })
      res.flushHeaders()
      if (isChunked) sendOwnChunks(res)
      return res
    },
    frame: isChunked ? toChunk : event => event,
    pieces: isChunked ? chunksOf : inPieces,
  }
}

/** Returns whether a client prefers server-sent events to JSON, like an EventSource. */
export function acceptsServerSentEvents({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const first = parseAccept(headers.accept ?? '').find(
    clause => covers(clause, 'json') || isEventStream(clause),
  )
  return first !== undefined && isEventStream(first)
}

function isEventStream({ type, subtype }: Clause): boolean {
  return type === 'text' && subtype === 'event-stream'
}

const eventStart = Buffer.from('data: ')
const eventEnd = Buffer.from('\n')

/**
 * Returns the response body with each event as a server-sent event (HTML Living Standard, section
 * 9.2); a WebSocket for a handshake.
 *
 * @throws Status 400 for an invalid handshake
 */
export function toServerSentEvents(exchange: StreamedExchange): EventStream {
  const stream = toEventStream(exchange, 'text/event-stream')
  if (exchange.upgrade !== undefined || exchange.openWatch !== undefined) return stream
  return {
    name: stream.name === 'body' ? 'server-sent events' : 'chunked server-sent events',
    isGone: stream.isGone,
    open: stream.open,
    // The event already ends with a line feed, and one more ends the message.
    frame: event => stream.frame(Buffer.concat([eventStart, event, eventEnd])),
    pieces: event => stream.pieces(inEvent(event)),
  }
}

function* inEvent(event: Iterable<Buffer>): Generator<Buffer> {
  yield eventStart
  yield* event
  yield eventEnd
}

/** Encodes an event as chunks, whose boundaries have no meaning for the client. */
function* chunksOf(event: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of inPieces(event)) yield toChunk(piece)
}

/** Joins small parts into pieces, and splits large ones without copying. */
function* inPieces(parts: Iterable<Buffer>): Generator<Buffer> {
  let small: Buffer[] = []
  for (const part of parts) {
    if (part.length < pieceBytes) {
      small.push(part)
      continue
    }
    if (small.length > 0) yield Buffer.concat(small)
    small = []
    for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes)
  }
  if (small.length > 0) yield Buffer.concat(small)
}

import type { Writable } from 'node:stream'
import { sendOwnChunks, toChunk } from './chunked-body.ts'
import type { Exchange } from './exchange.ts'
import { openWebSocket } from './web-socket.ts'
import { opcodes, toFrame } from './web-socket-frames.ts'
import { answerHandshake, isWebSocket } from './web-socket-handshake.ts'

/** Where the events of a watch go. */
export type EventStream = {
  /** Streams of one name frame alike. */
  readonly name: 'body' | 'chunked body' | 'websocket'
  /** Whether the client has gone before anything was said. */
  readonly isGone: () => boolean
  /** Says 200 or 101; after that there can be no other answer. */
  readonly open: () => Writable
  /** What makes an event ready for the stream. */
  readonly frame: (event: Buffer) => Buffer
}

/**
 * The body of the answer, or, for a handshake, a WebSocket with a message for each event.
 *
 * @throws Status 400 for a broken handshake
 */
export function toEventStream(
  { req, res, upgrade, lasts }: Pick<Exchange, 'req' | 'res' | 'upgrade' | 'lasts'>,
  contentType: string,
): EventStream {
  const isGone = () => res.destroyed
  if (upgrade !== undefined && isWebSocket(req)) {
    const lines = answerHandshake(req)
    return {
      name: 'websocket',
      isGone,
      open() {
        lasts?.()
        return openWebSocket({ req, res }, lines, upgrade)
      },
      frame: event => toFrame(opcodes.text, event),
    }
  }
  // HTTP/1.0 knows no chunks: its body ends with the connection.
  const isChunked = res.useChunkedEncodingByDefault
  return {
    name: isChunked ? 'chunked body' : 'body',
    isGone,
    open() {
      lasts?.()
      res.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-cache, private' })
      res.flushHeaders()
      if (isChunked) sendOwnChunks(res)
      return res
    },
    frame: isChunked ? toChunk : event => event,
  }
}

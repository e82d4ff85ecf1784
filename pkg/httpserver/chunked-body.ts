import type { ServerResponse } from 'node:http'
import { http } from './node-http.ts'

const lineEnd = Buffer.from('\r\n')

/** What goes on the wire for some bytes of a chunked body (RFC 9112 section 7.1); none for none, as an empty chunk is the last. */
export function toChunk(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`, 'latin1'), bytes, lineEnd])
}

/**
 * Takes what is written from now on as whole chunks ({@link toChunk}). node makes four writes of each chunk, and gathers them again,
 * for every client again: with a thousand clients that is a tenth of the work.
 *
 * @param res with its head sent, which says that the body is chunked
 */
export function sendOwnChunks(res: ServerResponse): void {
  res.chunkedEncoding = false
  res.end = endOwnChunks
}

// One function for all: V8 keeps a response that has a function of its own far longer than it lives.
function endOwnChunks(this: ServerResponse, last?: unknown): ServerResponse {
  if (Buffer.isBuffer(last)) this.write(last)
  // Then node writes the last chunk itself.
  this.chunkedEncoding = true
  Reflect.apply(http.ServerResponse.prototype.end, this, [])
  return this
}

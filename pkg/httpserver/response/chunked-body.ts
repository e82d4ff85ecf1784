import type { ServerResponse } from 'node:http'
import { http } from '../node-http.ts'

const lineEnd = Buffer.from('\r\n')

/** Encodes bytes as a chunk (RFC 9112 section 7.1); empty input, which would end it, as ''. */
export function toChunk(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`, 'latin1'), bytes, lineEnd])
}

/**
 * Makes later writes to a response expect complete chunks ({@link toChunk}). Node.js would make
 * four writes per chunk for each client: with a thousand clients, a precomputed chunk takes a tenth
 * of the CPU time.
 *
 * @param res with chunked headers already sent
 */
export function sendOwnChunks(res: ServerResponse): void {
  res.chunkedEncoding = false
  res.end = endOwnChunks
}

// One shared function: with a closure per response, V8 would keep responses in memory far longer.
function endOwnChunks(this: ServerResponse, last?: unknown): ServerResponse {
  if (Buffer.isBuffer(last)) this.write(last)
  // With chunked encoding enabled again, Node.js writes the last chunk itself.
  this.chunkedEncoding = true
  Reflect.apply(http.ServerResponse.prototype.end, this, [])
  return this
}

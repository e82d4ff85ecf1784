import type { IncomingMessage } from 'node:http'
import { PassThrough, type Transform } from 'node:stream'
import { createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { badRequest, Status, tooLarge } from '../../../apierrors/status.ts'
import { mediaTypeOf } from '../../../httpserver/request/body.ts'
import { type UncompressLimits, uncompressFrames } from '../../../logs/ingest/body/frames.ts'
import { uncompressSnappy } from '../../../logs/ingest/body/snappy.ts'

const streams: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['identity', () => new PassThrough()],
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
])

const inflate: Uncompress = (bytes, limits) => uncompressFrames('deflate', createInflate, bytes, limits)
const zstd: Uncompress = (bytes, limits) => uncompressFrames('zstd', createZstdDecompress, bytes, limits)

type Uncompress = (bytes: Buffer, limits: UncompressLimits) => Promise<Buffer>

// Compressions whose bodies are read whole first. `zlib` and `x-snappy-framed` are names of the
// OpenTelemetry Collector.
const wholes: ReadonlyMap<string, Uncompress> = new Map([
  ['snappy', uncompressSnappy],
  ['x-snappy-framed', uncompressSnappy],
  ['deflate', inflate],
  ['zlib', inflate],
  ['zstd', zstd],
])

export type BodyLimits = {
  readonly mediaTypes: readonly string[]
  readonly limitBytes: number
  /** The compression of a body that has no Content-Encoding. */
  readonly assumed?: string
  /** Timeout for the whole body. */
  readonly withinMs: number
  /** Called with the number of bytes in memory, before more are read. @throws Status 429 */
  readonly hold: (bytes: number) => void
}

/**
 * Reads and decompresses a whole body. The limit applies to the decompressed size while reading, so
 * a decompression bomb costs no more than the limit.
 *
 * @throws Status 400 for a truncated or corrupt body, 408, 413, 415, 429
 */
export async function readBody(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { mediaTypes, limitBytes, withinMs, hold } = limits
  checkMediaType(req, mediaTypes)
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const encoding = encodingOf(req.headers['content-encoding'] || limits.assumed)
  const uncompress = wholes.get(encoding)
  const decoder = decode(req, uncompress === undefined ? encoding : 'identity')
  const timer = setTimeout(() => decoder.destroy(lateBody(withinMs)), withinMs)
  try {
    const body = await collect(decoder, limits)
    if (uncompress === undefined) return body
    return await uncompress(body, { limitBytes, hold: unpacked => hold(body.length + unpacked) })
  } finally {
    clearTimeout(timer)
    // Reads and discards the rest of the body for a while, so that a client that is still sending
    // receives the response (RFC 9112 section 9.6).
    req.unpipe(decoder)
    req.resume()
  }
}

/** Returns the compression in a Content-Encoding, which may list `identity` next to it. */
function encodingOf(header = ''): string {
  const codings = header.split(',').map(coding => coding.trim().toLowerCase())
  return codings.filter(coding => coding !== '' && coding !== 'identity').join(', ') || 'identity'
}

function lateBody(withinMs: number): Status {
  const message = `timed out reading the request body (${withinMs / 1000} s)`
  return new Status(408, 'Timeout', message, { headers: { connection: 'close' } })
}

function checkMediaType(req: IncomingMessage, allowed: readonly string[]): void {
  const mediaType = mediaTypeOf(req)
  if (mediaType === '' || allowed.includes(mediaType)) return
  const message = `Content-Type must be one of ${allowed.join(', ')}, not ${JSON.stringify(mediaType)}`
  throw new Status(415, 'UnsupportedMediaType', message)
}

/** The returned stream fails when the client disconnects. */
function decode(req: IncomingMessage, encoding: string): Transform {
  const create = streams.get(encoding)
  if (create === undefined) {
    const message = `Content-Encoding must be gzip, deflate, zstd, snappy or identity, not ${JSON.stringify(encoding)}`
    throw new Status(415, 'UnsupportedMediaType', message, {
      headers: { 'accept-encoding': 'gzip, deflate, zstd, snappy' },
    })
  }
  const decoder = create()
  req.once('close', () => {
    if (!req.complete) decoder.destroy(new Error('the client closed the connection'))
  })
  return req.pipe(decoder)
}

async function collect(
  stream: AsyncIterable<string | Buffer>,
  { hold, limitBytes }: BodyLimits,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of stream) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      length += bytes.length
      if (length > limitBytes) throw tooLarge(limitBytes)
      hold(length)
      chunks.push(bytes)
    }
  } catch (error) {
    throw error instanceof Status
      ? error
      : badRequest('the request body is truncated or does not match its Content-Encoding')
  }
  return Buffer.concat(chunks, length)
}

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { badRequest, Status, tooLarge } from '../../../status/status.ts'

const decoders: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map<
  string,
  () => NodeJS.ReadWriteStream
>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['zstd', createZstdDecompress],
])

export type BodyLimits = {
  readonly mediaTypes: readonly string[]
  readonly limitBytes: number
  /** How long the whole body may take to arrive. */
  readonly withinMs: number
  /** Called with the bytes that have arrived so far, before more are taken. @throws Status 429 */
  readonly hold: (bytes: number) => void
}

/**
 * Reads a whole body, decompressed. The limit holds as it arrives, so a small body that unpacks to a large one costs no more
 * than the limit.
 *
 * @throws Status 400 for one that is truncated or does not unpack, 408, 413, 415, 429
 */
export async function readBody(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { mediaTypes, limitBytes, withinMs } = limits
  checkMediaType(req, mediaTypes)
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const body = collect(decode(req), limits)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Status(408, 'Timeout', `the body did not come within ${withinMs / 1000} s`)),
    withinMs,
  )
  try {
    return await Promise.race([body, late.promise])
  } finally {
    clearTimeout(timer)
    // What comes late is of no use; most often nothing does, since the response ends the connection.
    body.catch(() => undefined)
  }
}

export function mediaTypeOf(req: IncomingMessage): string {
  return (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function checkMediaType(req: IncomingMessage, allowed: readonly string[]): void {
  const given = mediaTypeOf(req)
  if (given === '' || allowed.includes(given)) return
  const message = `Content-Type must be one of ${allowed.join(', ')}, not ${JSON.stringify(given)}`
  throw new Status(415, 'UnsupportedMediaType', message)
}

function decode(req: IncomingMessage): Readable | NodeJS.ReadWriteStream {
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return req
  const create = decoders.get(encoding)
  if (create === undefined) {
    const message = `Content-Encoding must be gzip, deflate, zstd or identity, not ${JSON.stringify(encoding)}`
    throw new Status(415, 'UnsupportedMediaType', message, {
      headers: { 'accept-encoding': 'gzip, deflate, zstd' },
    })
  }
  const decoder = create()
  req.on('error', error => decoder.emit('error', error))
  req.on('aborted', () => decoder.emit('error', new Error('the client is gone')))
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
      : badRequest('the body is broken off, or is not what Content-Encoding says')
  }
  return Buffer.concat(chunks, length)
}

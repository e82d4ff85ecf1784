import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { releaseWhole } from '../../../logs/own-memory.ts'
import type { SharedMemory } from '../../../logs/shared-memory.ts'
import { badRequest, Status, tooLarge } from '../../../status/status.ts'

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  zstd: createZstdDecompress,
}

type Means = {
  readonly limitBytes: number
  /** What the body is put into. */
  readonly memory: SharedMemory
  /** What the sender waits for before each piece is taken, where there is something. */
  readonly beforeEach: () => Promise<void> | undefined
}

// A shipper sends what it has; who takes longer holds memory that others wait for.
const bodyWithinMs = 30_000
// Of a body that does not say its length; it grows.
const firstBytes = 64 * 1024

/**
 * The whole body, decompressed. What is over the limit is noticed as it comes, so a small body that unpacks to a large one
 * costs no more than the limit.
 *
 * @param given mediaTypes: what is taken; a body without Content-Type is taken too
 * @throws Status 400 for one that is broken off or does not unpack, 413, 415
 */
export async function readBody(
  req: IncomingMessage,
  given: Means & { readonly mediaTypes: readonly string[] },
): Promise<Buffer> {
  const { mediaTypes, limitBytes } = given
  checkMediaType(req, mediaTypes)
  const length = Number(req.headers['content-length'] ?? 0)
  if (length > limitBytes) throw tooLarge(limitBytes)
  const decoded = decode(req)
  const timer = setTimeout(() => req.destroy(), bodyWithinMs)
  try {
    const isPlain = decoded === req
    return await collect(decoded, { ...given, expectedBytes: isPlain ? length : 0, letGo: isPlain })
  } finally {
    clearTimeout(timer)
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
  const create = decoders[encoding]
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

/** @param means letGo: whether nobody else has what comes */
async function collect(
  stream: AsyncIterable<string | Buffer>,
  {
    limitBytes,
    memory,
    beforeEach,
    expectedBytes,
    letGo,
  }: Means & {
    readonly expectedBytes: number
    readonly letGo: boolean
  },
): Promise<Buffer> {
  let body = memory.take(Math.max(expectedBytes, firstBytes))
  let length = 0
  try {
    for await (const chunk of stream) {
      const wait = beforeEach()
      // Most often there is nothing, and a promise for each piece is not free.
      if (wait !== undefined) await wait
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      const end = length + bytes.length
      if (end > limitBytes) throw tooLarge(limitBytes)
      if (end > body.length) {
        const larger = memory.take(Math.max(end, 2 * body.length))
        body.copy(larger, 0, 0, length)
        memory.give(body)
        body = larger
      }
      bytes.copy(body, length)
      length = end
      // The parser makes one for each 16 KiB, and after ten megabytes of them V8 would look at all that the front has.
      if (letGo) releaseWhole(bytes)
    }
  } catch (error) {
    memory.give(body)
    throw error instanceof Status
      ? error
      : badRequest('the body is broken off, or is not what Content-Encoding says')
  }
  return body.subarray(0, length)
}

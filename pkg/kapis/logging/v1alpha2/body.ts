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
  /** How long the whole body may take to come. */
  readonly withinMs: number
  /** Told how much memory the body takes, before it does. @throws Status 429 */
  readonly hold: (bytes: number) => void
  /** What the body is put into. */
  readonly memory: SharedMemory
  /** What the sender waits for before each piece is taken, where there is something. */
  readonly beforeEach: () => Promise<void> | undefined
}

// Of a body that does not say its length; it grows.
const firstBytes = 64 * 1024
// Of one that says so; who sends slowly holds no more than this, or so many times what has come.
const firstOfKnownBytes = 256 * 1024
const aheadOfKnown = 4

/**
 * The whole body, decompressed. What is over the limit is noticed as it comes, so a small body that unpacks to a large one
 * costs no more than the limit.
 *
 * @param given mediaTypes: what is taken; a body without Content-Type is taken too
 * @throws Status 400 for one that is broken off or does not unpack, 408, 413, 415, 429
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
  const isPlain = decoded === req
  const body = collect(decoded, { ...given, expectedBytes: isPlain ? length : 0, letGo: isPlain })
  return inTime(body, given)
}

/** What comes after its time is let go of; most often nothing does, since the answer ends the connection. */
async function inTime(body: Promise<Buffer>, { withinMs, memory }: Means): Promise<Buffer> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    body.then(memory.give, () => undefined)
    late.reject(new Status(408, 'Timeout', `the body did not come within ${withinMs / 1000} s`))
  }, withinMs)
  try {
    return await Promise.race([body, late.promise])
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
    hold,
    memory,
    beforeEach,
    expectedBytes,
    letGo,
  }: Means & {
    readonly expectedBytes: number
    readonly letGo: boolean
  },
): Promise<Buffer> {
  const take = (size: number): Buffer => {
    hold(size)
    return memory.take(size)
  }
  let body = take(firstOf(expectedBytes, limitBytes))
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
        const larger = take(Math.min(limitBytes, Math.max(end, nextOf(body.length, expectedBytes))))
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

function firstOf(expectedBytes: number, limitBytes: number): number {
  return Math.min(Math.max(Math.min(expectedBytes, firstOfKnownBytes), firstBytes), limitBytes)
}

/** A quarter is copied once where the length is known, and less than that of larger ones. */
function nextOf(bytes: number, expectedBytes: number): number {
  return expectedBytes > bytes ? Math.min(expectedBytes, aheadOfKnown * bytes) : 2 * bytes
}

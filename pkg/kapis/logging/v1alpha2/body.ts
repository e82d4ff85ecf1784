import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { badRequest, Status, tooLarge } from '../../../status/status.ts'

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  zstd: createZstdDecompress,
}
// A shipper sends what it has; who takes longer holds memory that others wait for.
const bodyWithinMs = 30_000

/**
 * The whole body, decompressed. What is over the limit is noticed as it comes, so a small body that unpacks to a large one
 * costs no more than the limit.
 *
 * @param mediaTypes what is taken; a body without Content-Type is taken too
 * @throws Status 400 for one that is broken off or does not unpack, 413, 415
 */
export async function readBody(
  req: IncomingMessage,
  { mediaTypes, limitBytes }: { mediaTypes: readonly string[]; limitBytes: number },
): Promise<Buffer> {
  checkMediaType(req, mediaTypes)
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const timer = setTimeout(() => req.destroy(), bodyWithinMs)
  try {
    return await collect(decode(req), limitBytes)
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

async function collect(stream: AsyncIterable<string | Buffer>, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of stream) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      length += bytes.length
      if (length > limitBytes) throw tooLarge(limitBytes)
      chunks.push(bytes)
    }
  } catch (error) {
    throw error instanceof Status
      ? error
      : badRequest('the body is broken off, or is not what Content-Encoding says')
  }
  return Buffer.concat(chunks, length)
}

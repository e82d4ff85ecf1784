import type { Transform } from 'node:stream'
import type { createInflate, createZstdDecompress } from 'node:zlib'
import { badRequest, Status, tooLarge } from '../../../apierrors/status.ts'

export type UncompressLimits = {
  readonly limitBytes: number
  /** Called with the number of decompressed bytes in memory. @throws Status 429 */
  readonly hold: (bytes: number) => void
}

type Decoder = Transform &
  Pick<ReturnType<typeof createInflate | typeof createZstdDecompress>, 'bytesWritten'>

// Each frame takes a decoder of its own, about 0.1 ms. Senders write one frame per batch or flush.
const maxFrames = 10_000

/**
 * Decompresses a body of one or more concatenated frames (RFC 8878, section 3). Decoders of Node.js
 * stop after the first frame of zstd or deflate, and ignore the rest of the body.
 *
 * @param name name of the compression, for error messages
 * @throws Status 400 if the data is invalid or has too many frames, 413 if it exceeds the limit, 429
 */
export async function uncompressFrames(
  name: string,
  create: () => Decoder,
  bytes: Buffer,
  { limitBytes, hold }: UncompressLimits,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  let at = 0
  let frames = 0
  while (at < bytes.length) {
    if (++frames > maxFrames) throw badRequest(`the body has more than ${maxFrames} frames of ${name}`)
    const decoder = create()
    decoder.end(bytes.subarray(at))
    try {
      for await (const chunk of decoder) {
        length += chunk.length
        if (length > limitBytes) throw tooLarge(limitBytes)
        hold(length)
        chunks.push(chunk)
      }
    } catch (error) {
      throw error instanceof Status ? error : badRequest(`the body is truncated or not valid ${name}`)
    }
    // A frame has at least a header.
    if (decoder.bytesWritten === 0) throw badRequest(`the body is not valid ${name}`)
    at += decoder.bytesWritten
  }
  return Buffer.concat(chunks, length)
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { uncompress, uncompressSync } from 'snappy'
import { badRequest, tooLarge } from '../../../apierrors/status.ts'
import type { UncompressLimits } from './frames.ts'

// The stream identifier of the framing format. A valid block cannot begin with it.
const streamStart = Buffer.from([0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59])
const chunk = { compressed: 0x00, uncompressed: 0x01, firstSkippable: 0x80 }
const checksumBytes = 4
// Maximum size of a chunk of a stream. Senders fill chunks, or write one per line.
const chunkBytes = 65_536
const maxChunks = 100_000
// Yields to other requests after this many chunks.
const chunksInTurn = 1_000

/**
 * Decompresses snappy: a block (google/snappy, format_description.txt), as senders of Loki and
 * Prometheus use it, or a stream of blocks (framing_format.txt). Checksums of a stream are not
 * verified.
 *
 * @throws Status 400 if the data is invalid, 413 if it exceeds the limit, 429
 */
export async function uncompressSnappy(
  bytes: Buffer,
  { limitBytes, hold }: UncompressLimits,
): Promise<Buffer> {
  if (!bytes.subarray(0, streamStart.length).equals(streamStart))
    return uncompressBlock(bytes, { limitBytes, hold })
  const blocks: Buffer[] = []
  let length = 0
  for (const [i, { type, content }] of [...chunksOf(bytes)].entries()) {
    if (i % chunksInTurn === 0) await nextTurn()
    const limits = { limitBytes: limitBytes - length, hold: (more: number) => hold(length + more) }
    const block = type === chunk.compressed ? await uncompressBlock(content, limits) : content
    length += block.length
    if (length > limitBytes) throw tooLarge(limitBytes)
    blocks.push(block)
  }
  return Buffer.concat(blocks, length)
}

/** Yields the chunks that contain data, without their checksums. */
function* chunksOf(bytes: Buffer): Generator<{ readonly type: number; readonly content: Buffer }> {
  let count = 0
  for (let at = streamStart.length; at < bytes.length; ) {
    if (++count > maxChunks) throw badRequest(`the body has more than ${maxChunks} chunks of snappy`)
    if (at + 4 > bytes.length) throw malformed()
    const type = bytes[at] ?? 0
    const end = at + 4 + bytes.readUIntLE(at + 1, 3)
    if (end > bytes.length) throw malformed()
    const isData = type === chunk.compressed || type === chunk.uncompressed
    if (isData) yield { type, content: bytes.subarray(at + 4 + checksumBytes, end) }
    else if (type < chunk.firstSkippable) throw malformed()
    at = end
  }
}

async function uncompressBlock(bytes: Buffer, { limitBytes, hold }: UncompressLimits): Promise<Buffer> {
  // Checked before decompression, which allocates the declared size of the block.
  const length = lengthOf(bytes)
  if (length > limitBytes) throw tooLarge(limitBytes)
  hold(length)
  try {
    // Small blocks are decompressed here: the transfer to a thread takes a hundred times as long.
    return Buffer.from(bytes.length > chunkBytes ? await uncompress(bytes) : uncompressSync(bytes))
  } catch {
    throw malformed()
  }
}

/** Returns the uncompressed length, which a block begins with: a varint of up to 32 bits. */
function lengthOf(bytes: Buffer): number {
  let length = 0
  for (let i = 0; i < 5; i += 1) {
    const byte = bytes[i]
    if (byte === undefined) break
    length += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return length
  }
  throw malformed()
}

function malformed(): Error {
  return badRequest('the body is not valid snappy')
}

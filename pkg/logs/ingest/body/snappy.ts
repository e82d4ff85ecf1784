import { setImmediate as nextTurn } from 'node:timers/promises'
import { uncompress, uncompressSync } from 'snappy'
import { badRequest, tooLarge } from '../../../apierrors/status.ts'

// The stream identifier of the framing format, which no valid block begins with.
const streamStart = Buffer.from([0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59])
const chunk = { compressed: 0x00, uncompressed: 0x01, firstSkippable: 0x80 }
const checksumBytes = 4
// Maximum size of a chunk of a stream; senders fill chunks, or write one for each line.
const chunkBytes = 65_536
const maxChunks = 100_000
// Yields to other requests after this many chunks.
const chunksInTurn = 1_000

/**
 * Decompresses snappy: a block (google/snappy, format_description.txt) as senders of Loki and
 * Prometheus use it, or a stream of blocks (framing_format.txt) of other senders. Checksums of a
 * stream are not verified.
 *
 * @throws Status 400 for invalid data, 413 beyond the limit
 */
export async function uncompressSnappy(bytes: Buffer, limitBytes: number): Promise<Buffer> {
  if (!bytes.subarray(0, streamStart.length).equals(streamStart)) return uncompressBlock(bytes, limitBytes)
  const blocks: Buffer[] = []
  let length = 0
  for (const [i, { type, content }] of [...chunksOf(bytes)].entries()) {
    if (i % chunksInTurn === 0) await nextTurn()
    const block = type === chunk.compressed ? await uncompressBlock(content, limitBytes - length) : content
    length += block.length
    if (length > limitBytes) throw tooLarge(limitBytes)
    blocks.push(block)
  }
  return Buffer.concat(blocks, length)
}

/** Types of chunks that contain data. */
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

async function uncompressBlock(bytes: Buffer, limitBytes: number): Promise<Buffer> {
  // Allocates the declared size of the block, which is limited.
  if (lengthOf(bytes) > limitBytes) throw tooLarge(limitBytes)
  try {
    // Handing a small block to another thread takes a hundred times as long as decompressing it.
    return Buffer.from(bytes.length > chunkBytes ? await uncompress(bytes) : uncompressSync(bytes))
  } catch {
    throw malformed()
  }
}

/** The length at the start of a block: a varint of up to 32 bits. */
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

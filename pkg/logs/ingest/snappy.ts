import { uncompress } from 'snappy'
import { badRequest, tooLarge } from '../../apierrors/status.ts'

// The stream identifier with which the framing format begins; no block of logs does.
const streamStart = Buffer.from([0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59])
const chunk = { compressed: 0x00, uncompressed: 0x01, firstSkippable: 0x80 }
const checksumBytes = 4

/**
 * Unpacks snappy: a block (google/snappy, format_description.txt), as senders of Loki and
 * Prometheus make it, or a stream of blocks (framing_format.txt), which other senders call by the
 * same name. Checksums of a stream are not verified.
 *
 * @throws Status 400 for what is not snappy, 413 for more than the limit
 */
export async function uncompressSnappy(bytes: Buffer, limitBytes: number): Promise<Buffer> {
  if (!bytes.subarray(0, streamStart.length).equals(streamStart)) return uncompressBlock(bytes, limitBytes)
  const blocks: Buffer[] = []
  let length = 0
  for (let at = streamStart.length; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw malformed()
    const type = bytes[at]
    const end = at + 4 + bytes.readUIntLE(at + 1, 3)
    if (end > bytes.length) throw malformed()
    const content = bytes.subarray(at + 4 + checksumBytes, end)
    at = end
    if (type !== chunk.compressed && type !== chunk.uncompressed) {
      if (type === undefined || type < chunk.firstSkippable) throw malformed()
      continue
    }
    const block = type === chunk.compressed ? await uncompressBlock(content, limitBytes - length) : content
    length += block.length
    if (length > limitBytes) throw tooLarge(limitBytes)
    blocks.push(block)
  }
  return Buffer.concat(blocks, length)
}

async function uncompressBlock(bytes: Buffer, limitBytes: number): Promise<Buffer> {
  // As much memory as the block says is taken before anything is read.
  if (lengthOf(bytes) > limitBytes) throw tooLarge(limitBytes)
  try {
    return Buffer.from(await uncompress(bytes))
  } catch {
    throw malformed()
  }
}

/** The length with which a block begins: seven bits a byte, up to 32. */
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

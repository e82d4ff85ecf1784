import { badRequest, tooLarge } from '../../status/status.ts'

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
export function uncompressSnappy(bytes: Buffer, limitBytes: number): Buffer {
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
    const block = type === chunk.compressed ? uncompressBlock(content, limitBytes - length) : content
    length += block.length
    if (length > limitBytes) throw tooLarge(limitBytes)
    blocks.push(block)
  }
  return Buffer.concat(blocks, length)
}

type Cursor = { readonly bytes: Buffer; at: number }

function uncompressBlock(bytes: Buffer, limitBytes: number): Buffer {
  const cursor = { bytes, at: 0 }
  const length = readLength(cursor)
  if (length > limitBytes) throw tooLarge(limitBytes)
  const result = Buffer.allocUnsafe(length)
  let end = 0
  while (cursor.at < bytes.length) {
    const tag = take(cursor, 1)
    end += (tag & 0x03) === 0 ? putLiteral(cursor, tag, result, end) : putCopy(cursor, tag, result, end)
  }
  if (end !== length) throw malformed()
  return result
}

/** A number of so many bytes, the least significant first. */
function take(cursor: Cursor, count: number): number {
  const { bytes, at } = cursor
  if (count > bytes.length - at) throw malformed()
  cursor.at += count
  return bytes.readUIntLE(at, count)
}

/** In seven bits a byte, up to 32. */
function readLength(cursor: Cursor): number {
  let length = 0
  for (let scale = 1; scale <= 2 ** 28; scale *= 2 ** 7) {
    const byte = take(cursor, 1)
    length += (byte & 0x7f) * scale
    if (byte < 0x80) return length
  }
  throw malformed()
}

/** @returns how many bytes it adds */
function putLiteral(cursor: Cursor, tag: number, result: Buffer, end: number): number {
  const high = tag >>> 2
  const count = (high < 60 ? high : take(cursor, high - 59)) + 1
  const { bytes, at } = cursor
  if (count > bytes.length - at || count > result.length - end) throw malformed()
  cursor.at += count
  return bytes.copy(result, end, at, at + count)
}

/** Puts what came so far before the end there once more. @returns how many bytes it adds */
function putCopy(cursor: Cursor, tag: number, result: Buffer, end: number): number {
  const kind = tag & 0x03
  const high = tag >>> 2
  const count = kind === 1 ? (high & 0x07) + 4 : high + 1
  const offset = kind === 1 ? (high >>> 3) * 0x100 + take(cursor, 1) : take(cursor, kind === 2 ? 2 : 4)
  if (offset === 0 || offset > end || count > result.length - end) throw malformed()
  const from = end - offset
  // A copy may go on with what it has just written.
  if (offset >= count) result.copyWithin(end, from, from + count)
  else for (let i = 0; i < count; i += 1) result[end + i] = result[from + i] ?? 0
  return count
}

function malformed(): Error {
  return badRequest('the body is not valid snappy')
}

import { constants, crc32, deflateRawSync } from 'node:zlib'
import { unpooledBuffer } from '../store/unpooled-buffer.ts'

/**
 * A relocatable piece of a gzip body: a deflate stream that ends byte-aligned with a full flush,
 * and does not refer to data before its start (RFC 1951). Also contains the values to combine its
 * checksum with those of other pieces.
 */
export type GzipPiece = {
  readonly deflated: Buffer
  readonly length: number
  readonly crc: number
  /** x^(8·length) modulo the CRC polynomial, the factor of the preceding checksum. */
  readonly shift: number
}

const polynomial = 0xedb88320
// In the reflected representation, bit 31 is x^0.
const one = 0x80000000
const xToTheEighth = 0x00800000

// Header of RFC 1952 section 2.3: magic number, deflate, no flags, no time, no extra flags, Unix.
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
// An empty final block: fixed codes, and only the end-of-block symbol.
const finalBlock = Buffer.from([3, 0])

export function toGzipPiece(bytes: Buffer): GzipPiece {
  return {
    deflated: unpooledBuffer(deflateRawSync(bytes, { level: 1, finishFlush: constants.Z_FULL_FLUSH })),
    length: bytes.length,
    crc: crc32(bytes),
    shift: power(xToTheEighth, bytes.length),
  }
}

/** Assembles a gzip member (RFC 1952) from pieces in order, without compressing them again. */
export function* joinGzip(pieces: Iterable<GzipPiece>): Generator<Buffer> {
  let crc = 0
  let length = 0
  yield header
  for (const piece of pieces) {
    crc = (multiply(crc, piece.shift) ^ piece.crc) >>> 0
    length += piece.length
    yield piece.deflated
  }
  yield finalBlock
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(length % 2 ** 32, 4)
  yield trailer
}

/** Returns the product of two polynomials over GF(2), modulo the CRC-32 polynomial. */
function multiply(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ polynomial : shifted >>> 1
  }
  return product >>> 0
}

function power(base: number, exponent: number): number {
  let result = one
  let square = base
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square)
    square = multiply(square, square)
  }
  return result
}

import { constants, crc32, zstdCompressSync } from 'node:zlib'
import { releaseOwn } from '../own-memory.ts'
import { decompressOnce } from './decompress.ts'
import type { Stream } from './lines.ts'

/**
 * A segment is an immutable file of lines of one day. Its documents are its lines in the order of time and arrival. Pieces
 * follow each other in the file: texts, times, the stream of each document, the dictionary of words, the documents of each
 * word and its positions in them; then the footer, which tells where they are.
 */
export type Footer = {
  /** Segments of version 1 have no positions of words, those before version 3 the documents of each stream instead of the streams. */
  readonly version: 1 | 2 | 3
  readonly day: number
  readonly count: number
  readonly firstTime: number
  readonly lastTime: number
  readonly firstSequence: number
  readonly lastSequence: number
  /** All texts together, as they are. */
  readonly textBytes: number
  /** In the order of namespace, pod and container; `lines` of each. */
  readonly streams: readonly (Stream & { readonly lines: number })[]
  /** Lines grouped by stream, so that what is asked of one namespace lies together. `first` is the place of its first line. */
  readonly texts: readonly (Piece & { readonly first: number })[]
  /** Times and sequences of `timeBlockSize` documents each. */
  readonly times: readonly (Piece & { readonly firstTime: number })[]
  readonly streamOf: StoredColumn
  /** Words in order. `first` is its first word, `lists` where its words' lists of documents begin. */
  readonly dictionary: readonly (Piece & { readonly first: string; readonly lists: number })[]
  /** The first segments of version 3, and those before, have none. */
  readonly filter?: StoredFilter
}

export type Piece = { readonly offset: number; readonly length: number }

/**
 * Which stream each document is of: as it is, which costs next to nothing to read; packed, where that takes less than half; or,
 * before version 3, as the documents of each stream in steps, one stream after the other.
 */
export type StoredColumn = Piece & { readonly form: 'plain' | 'packed' | 'steps' }

/** Which words there may be, as `word-filter.ts` describes it. */
export type StoredFilter = Piece & { readonly crc: number }

/** What stands in a file. */
type StoredFooter = (Footer & { readonly version: 3 }) | EarlierFooter
type EarlierFooter = Omit<Footer, 'version' | 'streamOf'> & {
  readonly version: 1 | 2
  readonly documents: Piece
}

/** Pieces written one after the other. */
export type Output = { readonly put: (bytes: Uint8Array) => Piece }

export const timeBlockSize = 4096
export const textBlockBytes = 64 * 1024
export const dictionaryBlockBytes = 16 * 1024

const magic = Buffer.from('KLOGSEG1')
/** Length and checksum of the footer, and the magic. */
export const tailBytes = 8 + magic.length

/**
 * Compresses, and lets go of what that makes when the work is done.
 *
 * @returns what the work returns
 */
export function useCompressed<T>(bytes: Uint8Array, work: (packed: Buffer) => T): T {
  const packed = compress(bytes)
  try {
    return work(packed)
  } finally {
    releaseOwn(packed)
  }
}

function compress(bytes: Uint8Array): Buffer {
  return zstdCompressSync(bytes, {
    // At least what it may come to, so that it is all in one buffer, and never in one that others have a part of.
    chunkSize: Math.max(bytes.length + (bytes.length >>> 8) + 64, 2 * Buffer.poolSize),
    params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  })
}

export function encodeFooter(footer: Footer): Buffer {
  return useCompressed(Buffer.from(JSON.stringify(footer)), body => {
    const tail = Buffer.alloc(8)
    tail.writeUInt32LE(body.length, 0)
    tail.writeUInt32LE(crc32(body), 4)
    return Buffer.concat([body, tail, magic])
  })
}

/** @param read a part of the segment */
export function decodeFooter(size: number, read: (piece: Piece) => Buffer): Footer {
  if (size < tailBytes) throw new Error('segment: too short')
  const tail = read({ offset: size - tailBytes, length: tailBytes })
  const length = tail.readUInt32LE(0)
  if (!tail.subarray(8).equals(magic) || length + tailBytes > size) throw new Error('segment: not whole')
  const body = read({ offset: size - tailBytes - length, length })
  if (crc32(body) !== tail.readUInt32LE(4)) throw new Error('segment: the footer is damaged')
  const footer: StoredFooter = JSON.parse(decompressOnce(body).toString())
  if (footer.version === 3) return footer
  const { documents, ...rest } = footer
  if (rest.version !== 1 && rest.version !== 2)
    throw new Error(`segment: version ${rest.version} is not known`)
  return { ...rest, streamOf: { ...documents, form: 'steps' } }
}

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/**
 * Consecutive lines of a partition, stored in one row: times, streams and lengths as compressed
 * columns (`head`), texts as one compressed blob. Lines of a partition are numbered from 0 in order
 * of arrival.
 */
export type Block = {
  /** Number of the first line. */
  readonly first: number
  readonly count: number
  /** Earliest and latest time, in nanoseconds since the day began. */
  readonly firstTime: number
  readonly lastTime: number
  /** Total length of the texts in UTF-16 code units. */
  readonly chars: number
}

/** A block as it is stored, with its compressed columns. */
export type EncodedBlock = Omit<Block, 'first'> & {
  readonly head: Uint8Array
  readonly text: Uint8Array
  /** null if no line has fields. */
  readonly fields: Uint8Array | null
}

/** Decoded columns. The text of line i is from `ends[i - 1]` (0 for the first) to `ends[i]`. */
export type Columns = {
  readonly times: Float64Array
  readonly streams: Uint32Array
  readonly ends: Uint32Array
  /** Ends of the fields of each line; undefined if no line has fields. */
  readonly fieldEnds: Uint32Array | undefined
}

/** The stored bytes of a block are corrupt. */
export class BlockError extends Error {}

const maxLines = 2048
const maxChars = 256 * 1024
const level = 1

/** Reports whether a block should be merged with its neighbours. */
export function isSmall({ count, chars }: Pick<Block, 'count' | 'chars'>): boolean {
  return count < maxLines / 2 && chars < maxChars / 2
}

/** Reports whether blocks with this total size fit into one block. */
export function fits({ count, chars }: Pick<Block, 'count' | 'chars'>): boolean {
  return count <= maxLines && chars <= maxChars
}

/** Reports whether a block of this size is close enough to the limits to be final. */
export function isLarge({ count, chars }: Pick<Block, 'count' | 'chars'>): boolean {
  return count >= (maxLines * 3) / 4 || chars >= (maxChars * 3) / 4
}

export class BlockBuilder {
  #times: number[] = []
  #streams: number[] = []
  #texts: string[] = []
  #fields: string[] = []
  #chars = 0
  #hasFields = false

  get count(): number {
    return this.#times.length
  }

  get isFull(): boolean {
    return this.count >= maxLines || this.#chars >= maxChars
  }

  /** Adds a line. @param fields JSON object; '' without fields */
  add(time: number, stream: number, text: string, fields: string): void {
    this.#times.push(time)
    this.#streams.push(stream)
    this.#texts.push(text)
    this.#fields.push(fields)
    this.#chars += text.length
    this.#hasFields ||= fields !== ''
  }

  /** Encodes the collected lines as a block, and starts the next block. */
  build(): EncodedBlock {
    const [times, texts, fields, count] = [this.#times, this.#texts, this.#fields, this.count]
    let [firstTime, lastTime] = [Number.POSITIVE_INFINITY, 0]
    // Differences compress better than absolute times. They are integers below 2^47, hence exact.
    const differences = new Float64Array(count)
    let before = 0
    for (const [i, time] of times.entries()) {
      firstTime = Math.min(firstTime, time)
      lastTime = Math.max(lastTime, time)
      differences[i] = time - before
      before = time
    }
    const columns = [
      differences,
      Uint32Array.from(texts, text => text.length),
      Uint32Array.from(this.#streams),
      ...(this.#hasFields ? [Uint32Array.from(fields, text => text.length)] : []),
    ]
    const encoded = {
      ...{ count, firstTime, lastTime, chars: this.#chars },
      head: compress(
        Buffer.concat(columns.map(({ buffer, byteLength }) => Buffer.from(buffer, 0, byteLength))),
      ),
      text: compress(Buffer.from(texts.join(''))),
      fields: this.#hasFields ? compress(Buffer.from(fields.join(''))) : null,
    }
    ;[this.#times, this.#streams, this.#texts, this.#fields] = [[], [], [], []]
    this.#chars = 0
    this.#hasFields = false
    return encoded
  }
}

/** Decodes the columns of `count` lines. @throws BlockError */
export function decodeColumns(head: Uint8Array, count: number, hasFields: boolean): Columns {
  const { buffer, byteOffset, byteLength } = decompress(head, 32 * count)
  if (byteLength !== (hasFields ? 20 : 16) * count)
    throw new BlockError('the columns of a block have different lengths')
  const times = new Float64Array(buffer, byteOffset, count)
  const ends = new Uint32Array(buffer, byteOffset + 8 * count, count)
  const streams = new Uint32Array(buffer, byteOffset + 12 * count, count)
  const fieldEnds = hasFields ? new Uint32Array(buffer, byteOffset + 16 * count, count) : undefined
  for (const column of [times, ends, ...(fieldEnds === undefined ? [] : [fieldEnds])]) {
    for (let i = 1; i < count; i += 1) column[i] = (column[i] ?? 0) + (column[i - 1] ?? 0)
  }
  return { times, streams, ends, fieldEnds }
}

/** Returns all texts of a block, concatenated. @throws BlockError */
export function decodeText(compressed: Uint8Array, expectedChars: number): string {
  return decompress(compressed, expectedChars).toString('utf8')
}

function compress(bytes: Uint8Array): Buffer {
  return zstdCompressSync(bytes, {
    // SQLite has no page checksums. A checksum per block detects corruption.
    params: { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 1 },
  })
}

function decompress(bytes: Uint8Array, expected: number): Buffer {
  try {
    // By default, zlib would collect the output in chunks of 16 KiB and then copy them.
    return zstdDecompressSync(bytes, { chunkSize: Math.max(1024, expected + 64) })
  } catch (error) {
    throw new BlockError('a block cannot be decompressed', { cause: error })
  }
}

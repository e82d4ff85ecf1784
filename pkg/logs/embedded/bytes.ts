import { release } from '../own-memory.ts'

/** Bytes that grow as they are written. */
export type ByteWriter = {
  readonly length: () => number
  readonly byte: (value: number) => void
  /** Seven bits a byte, the lowest first; a whole number from 0 to 2^53 - 1. */
  readonly varint: (value: number) => void
  readonly uint32: (value: number) => void
  readonly float64: (value: number) => void
  readonly bytes: (source: Uint8Array) => void
  /** The bytes from `start` up to `end`. */
  readonly slice: (source: Buffer, start: number, end: number) => void
  /** The length in bytes as a varint, then the text as UTF-8. */
  readonly text: (value: string) => void
  /** What was written; shares its memory, so it holds until more is written. */
  readonly view: () => Buffer
  readonly clear: () => void
  /** Lets go of its memory. Nothing is written any more. */
  readonly release: () => void
}

export function createByteWriter(capacity = 1024): ByteWriter {
  let buffer = Buffer.allocUnsafeSlow(capacity)
  let used = 0

  function reserve(size: number): void {
    if (used + size <= buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, used + size))
    buffer.copy(larger, 0, 0, used)
    release(buffer)
    buffer = larger
  }

  function varint(value: number): void {
    reserve(8)
    let rest = value
    while (rest >= 0x80000000) {
      buffer[used++] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    while (rest >= 0x80) {
      buffer[used++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    buffer[used++] = rest
  }

  return {
    length: () => used,
    varint,
    byte: value => {
      reserve(1)
      buffer[used++] = value
    },
    uint32: value => {
      reserve(4)
      used = buffer.writeUInt32LE(value, used)
    },
    float64: value => {
      reserve(8)
      used = buffer.writeDoubleLE(value, used)
    },
    slice: (source, start, end) => {
      reserve(end - start)
      // Leaving JavaScript costs more than copying a word.
      if (end - start < 32) for (let i = start; i < end; i += 1) buffer[used++] = source[i] ?? 0
      else used += source.copy(buffer, used, start, end)
    },
    bytes: source => {
      reserve(source.length)
      buffer.set(source, used)
      used += source.length
    },
    text: value => {
      // Three bytes of UTF-8 at most for each unit of UTF-16; only what has another length than that is moved.
      reserve(value.length * 3 + 10)
      const from = used
      varint(value.length)
      const head = used - from
      const size = buffer.write(value, used)
      if (size !== value.length) {
        used = from
        varint(size)
        if (used - from === head) used += size
        else used += buffer.write(value, used)
      } else used += size
    },
    view: () => buffer.subarray(0, used),
    clear: () => {
      used = 0
    },
    release: () => release(buffer),
  }
}

/** Reads what a ByteWriter wrote, in the same order. Reading past the end is an error: the bytes are not whole. */
export type ByteReader = {
  /**
   * Where it is. No getter: V8 makes a hidden class of its own for each object literal with one, out of reach of quick collections,
   * and the bytes hang on it.
   */
  readonly at: () => number
  readonly byte: () => number
  readonly varint: () => number
  readonly uint32: () => number
  readonly float64: () => number
  readonly text: () => string
  /** Passes over so many bytes and tells where they begin. */
  readonly skip: (size: number) => number
}

export function createByteReader(buffer: Buffer, from = 0): ByteReader {
  let at = from

  function take(size: number): number {
    const start = at
    at += size
    if (at > buffer.length) throw new RangeError('the bytes end too early')
    return start
  }

  function varint(): number {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = buffer[take(1)] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
  }

  return {
    at: () => at,
    varint,
    skip: take,
    byte: () => buffer[take(1)] ?? 0,
    uint32: () => buffer.readUInt32LE(take(4)),
    float64: () => buffer.readDoubleLE(take(8)),
    text: () => {
      const size = varint()
      const start = take(size)
      return buffer.toString('utf8', start, start + size)
    },
  }
}

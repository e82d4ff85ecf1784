import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { LogRecord } from '../record.ts'
import { type ByteReader, type ByteWriter, createByteReader, createByteWriter } from './bytes.ts'
import { dayNs, type LinesBuilder, type Stream } from './lines.ts'
import { createStreamNumbers } from './stream-numbers.ts'

/**
 * A batch of lines as it stands in the write-ahead log: the length and the checksum of what follows, the key of the batch,
 * the sequence of its first line, its streams, its lines.
 */
export type Frame = UnnumberedFrame & { readonly firstSequence: number }

/** Without sequences, which are given in the order of arrival, and so without a checksum. */
export type UnnumberedFrame = { readonly bytes: Buffer; readonly key: string; readonly count: number }

const headBytes = 8
const keyBytes = 20
const sequenceBytes = 8
const dayLength = Number(dayNs)

/**
 * Makes a frame line by line, in memory that is used again: of what is new for each batch, much is there for long before it
 * is let go.
 */
export type FrameEncoder = {
  readonly begin: () => void
  readonly add: (record: LogRecord) => void
  /** @param id the sender's name for the batch; without one the same lines are the same batch */
  readonly finish: (id?: string) => UnnumberedFrame
}

const keptBytes = 4 * 1024 * 1024
/** About a quarter of a millisecond. */
const readingTurn = 96

export function createFrameEncoder(): FrameEncoder {
  let [streams, lines] = [createByteWriter(), createByteWriter()]
  const numbers = createStreamNumbers(stream => writeStream(stream, streams))
  const time = new BigUint64Array(1)
  const halves = new Uint32Array(time.buffer)
  let count = 0

  return {
    begin: () => {
      // One large batch is no reason to keep that much.
      if (lines.length() > keptBytes) [streams, lines] = [createByteWriter(), createByteWriter()]
      streams.clear()
      lines.clear()
      numbers.begin()
      count = 0
    },
    add: record => {
      time[0] = record.timeNs
      lines.varint(numbers.of(record))
      lines.uint32(halves[0] ?? 0)
      lines.uint32(halves[1] ?? 0)
      lines.text(record.log)
      count += 1
    },
    finish: (id = '') => toFrame({ streams, lines, streamCount: numbers.count(), count, id }),
  }
}

function toFrame(parts: {
  readonly streams: ByteWriter
  readonly lines: ByteWriter
  readonly streamCount: number
  readonly count: number
  readonly id: string
}): UnnumberedFrame {
  const { streams, lines, streamCount, count, id } = parts
  const counts = createByteWriter(16)
  counts.varint(streamCount)
  counts.varint(count)
  const key = createHash('sha1').update(streams.view()).update(lines.view()).update(id).digest()
  const pieces = [key, Buffer.alloc(sequenceBytes), counts.view(), streams.view(), lines.view()]
  const length = pieces.reduce((sum, part) => sum + part.length, 0)
  // Of its own, so that another thread can give it away.
  const bytes = Buffer.allocUnsafeSlow(headBytes + length)
  let at = headBytes
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  bytes.writeUInt32LE(length, 0)
  return { bytes, key: key.toString('base64'), count }
}

/** Gives its lines their sequences, from this one on; in place. */
export function numberFrame(frame: UnnumberedFrame, firstSequence: number): Frame {
  const { bytes } = frame
  bytes.writeDoubleLE(firstSequence, headBytes + keyBytes)
  bytes.writeUInt32LE(crc32(bytes.subarray(headBytes)), 4)
  return { ...frame, firstSequence }
}

/** The frames that are whole, from the beginning on; what follows them was never acknowledged. */
export function* readFrames(bytes: Buffer): Generator<Frame> {
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const length = bytes.readUInt32LE(at)
    const end = at + headBytes + length
    if (length < keyBytes + sequenceBytes || end > bytes.length) return
    if (crc32(bytes.subarray(at + headBytes, end)) !== bytes.readUInt32LE(at + 4)) return
    const frame = bytes.subarray(at, end)
    const reader = createByteReader(frame, headBytes + keyBytes)
    const firstSequence = reader.float64()
    reader.varint()
    const key = frame.toString('base64', headBytes, headBytes + keyBytes)
    yield { bytes: frame, key, count: reader.varint(), firstSequence }
    at = end
  }
}

/**
 * Yields now and then.
 *
 * @param linesOf the lines of a day, where these go
 */
export function* readingFrame(
  frame: Buffer,
  linesOf: (day: number) => LinesBuilder,
  known: KnownStreams = createKnownStreams(),
): Generator<void, void> {
  const reader = createByteReader(frame, headBytes + keyBytes)
  const firstSequence = reader.float64()
  const streamCount = reader.varint()
  const count = reader.varint()
  const streams: Stream[] = []
  for (let i = 0; i < streamCount; i += 1) streams.push(readStream(frame, reader, known))
  for (let i = 0; i < count; i += 1) {
    if (i % readingTurn === readingTurn - 1) yield
    const stream = streams[reader.varint()]
    const low = reader.uint32()
    const high = reader.uint32()
    if (stream === undefined) throw new RangeError('a frame names a stream that it does not have')
    // No step loses a digit: the upper half has 31, a day's nanoseconds are 2^16 times 31 more.
    const upper = high * 2 ** 32
    let day = Math.floor(upper / dayLength)
    let time = upper - day * dayLength + low
    if (time >= dayLength) {
      day += 1
      time -= dayLength
    }
    const size = reader.varint()
    const start = reader.skip(size)
    linesOf(day).add(time, firstSequence + i, stream, frame, start, start + size)
  }
}

/** The streams of frames that were read before, by the bytes that they are told in: most come again in each frame. */
export type KnownStreams = Map<string, Stream>

// With labels a sender can make each stream another one, and long: ten megabytes at most.
const mostKnown = 4096
const longestKnown = 1024
const streamFields = 6

export function createKnownStreams(): KnownStreams {
  return new Map()
}

function readStream(frame: Buffer, reader: ByteReader, known: KnownStreams): Stream {
  const start = reader.at()
  for (let field = 0; field < streamFields; field += 1) reader.skip(reader.varint())
  const key = frame.toString('latin1', start, reader.at())
  const before = known.get(key)
  if (before !== undefined) return before
  const { text } = createByteReader(frame, start)
  const [namespace, pod, container, host, dockerId, labels] = [text(), text(), text(), text(), text(), text()]
  const names = { namespace, pod, container, host, dockerId }
  const stream = labels === '' ? names : { ...names, labels: JSON.parse(labels) }
  if (known.size >= mostKnown) known.clear()
  if (key.length <= longestKnown) known.set(key, stream)
  return stream
}

function writeStream(stream: Stream, to: { readonly text: (value: string) => void }): void {
  const { namespace, pod, container, host, dockerId, labels } = stream
  for (const value of [namespace, pod, container, host, dockerId]) to.text(value)
  to.text(labels === undefined ? '' : JSON.stringify(labels))
}

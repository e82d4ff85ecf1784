import { release } from '../own-memory.ts'
import type { LogRecord } from '../record.ts'
import { cutMemory } from './cut.ts'

/** Where lines come from: all of a record but its time and text. Lines of one container share it. */
export type Stream = Omit<LogRecord, 'timeNs' | 'log'>

/** Lines of one day side by side, in columns; the texts lie one after the other in one piece of memory. */
export type Lines = {
  /** Days since 1970, UTC. */
  readonly day: number
  readonly count: number
  /** Nanoseconds since the day began: below 2^47, where a moment of 64 bits would not fit a number. */
  readonly times: Float64Array
  /** The order of arrival, over all that the store has ever taken. */
  readonly sequences: Float64Array
  /** Index into `streams`. */
  readonly streamOf: Uint32Array
  readonly streams: readonly Stream[]
  /** UTF-8; line i is from textStarts[i] up to textStarts[i + 1]. */
  readonly text: Buffer
  readonly textStarts: Uint32Array
}

export const dayNs = 86_400_000_000_000n

export function dayOf(timeNs: bigint): number {
  return Number(timeNs / dayNs)
}

export function timeInDay(timeNs: bigint): number {
  return Number(timeNs % dayNs)
}

export function toTimeNs(day: number, time: number): bigint {
  return BigInt(day) * dayNs + BigInt(time)
}

/** Streams that are the same have the same key. */
export function streamKey(stream: Stream): string {
  const { namespace, pod, container, host, dockerId, labels } = stream
  const key = `${namespace}\0${pod}\0${container}\0${host}\0${dockerId}`
  return labels === undefined ? key : `${key}\0${JSON.stringify(labels)}`
}

/** As by their keys, which are not made for it. */
export function isSameStream(a: Stream, b: Stream): boolean {
  return (
    a.dockerId === b.dockerId &&
    a.pod === b.pod &&
    a.container === b.container &&
    a.namespace === b.namespace &&
    a.host === b.host &&
    isSameLabels(a.labels, b.labels)
  )
}

function isSameLabels(a: Stream['labels'], b: Stream['labels']): boolean {
  if (a === undefined || b === undefined) return a === b
  const [keys, others] = [Object.keys(a), Object.keys(b)]
  return keys.length === others.length && keys.every((key, i) => key === others[i] && a[key] === b[key])
}

export function toRecord(stream: Stream, timeNs: bigint, log: string): LogRecord {
  return { timeNs, log, ...stream }
}

/** Columns that grow line by line. */
export type LinesBuilder = {
  readonly count: () => number
  /** Of the source the bytes from `start` up to `end`. No object for each line: it would be most of a thread's garbage. */
  readonly add: (
    time: number,
    sequence: number,
    stream: Stream,
    source: Buffer,
    start: number,
    end: number,
  ) => void
  readonly finish: () => Lines
  /** Begins anew, with lines of another day, in the same memory: what `finish` returned before holds no longer. */
  readonly clear: (day: number) => void
}

/** @param expected how much there will be of lines and of text; it grows when there is more */
export function createLinesBuilder(
  firstDay: number,
  expected: { readonly lines: number; readonly bytes: number } = { lines: 1024, bytes: 256 * 1024 },
): LinesBuilder {
  let capacity = expected.lines
  let times = new Float64Array(capacity)
  let sequences = new Float64Array(capacity)
  let streamOf = new Uint32Array(capacity)
  let textStarts = new Uint32Array(capacity + 1)
  let text = Buffer.allocUnsafeSlow(expected.bytes)
  let day = firstDay
  let count = 0
  let used = 0
  let streams: Stream[] = []
  const streamIds = new Map<Stream | string, number>()

  function grow(): void {
    capacity *= 2
    const widen = <T extends Float64Array | Uint32Array>(larger: T, column: T): T => {
      larger.set(column)
      return larger
    }
    times = widen(new Float64Array(capacity), times)
    sequences = widen(new Float64Array(capacity), sequences)
    streamOf = widen(new Uint32Array(capacity), streamOf)
    textStarts = widen(new Uint32Array(capacity + 1), textStarts)
  }

  function idOf(stream: Stream): number {
    // The same object comes again for each line; the key is only made for the first.
    const known = streamIds.get(stream)
    if (known !== undefined) return known
    const key = streamKey(stream)
    const id = streamIds.get(key) ?? streams.push(stream) - 1
    streamIds.set(key, id).set(stream, id)
    return id
  }

  return {
    count: () => count,
    add: (time, sequence, stream, source, start, end) => {
      if (count === capacity) grow()
      const size = end - start
      if (used + size > text.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * text.length, used + size))
        text.copy(larger, 0, 0, used)
        text = larger
      }
      source.copy(text, used, start, end)
      times[count] = time
      sequences[count] = sequence
      streamOf[count] = idOf(stream)
      used += size
      count += 1
      textStarts[count] = used
    },
    finish: () => ({
      day,
      count,
      times: times.subarray(0, count),
      sequences: sequences.subarray(0, count),
      streamOf: streamOf.subarray(0, count),
      streams,
      text: text.subarray(0, used),
      textStarts: textStarts.subarray(0, count + 1),
    }),
    clear: next => {
      day = next
      count = 0
      used = 0
      streams = []
      streamIds.clear()
    },
  }
}

/** @param take the memory for all of it, which has nothing else in it: a builder's has room for more */
export function copyLines(lines: Lines, take: (size: number) => Buffer): Lines {
  const { count, times, sequences, streamOf, text, textStarts } = lines
  const cut = cutMemory(take(24 * count + 4 + text.length))
  const copy = {
    ...lines,
    times: cut.float64(count),
    sequences: cut.float64(count),
    streamOf: cut.uint32(count),
    textStarts: cut.uint32(count + 1),
    text: cut.bytes(text.length),
  }
  copy.times.set(times)
  copy.sequences.set(sequences)
  copy.streamOf.set(streamOf)
  copy.textStarts.set(textStarts)
  text.copy(copy.text)
  return copy
}

/** Lets go of their memory at once, and of all that a builder has that they are of. */
export function releaseLines({ times, sequences, streamOf, text, textStarts }: Lines): void {
  for (const column of [times, sequences, streamOf, text, textStarts]) release(column)
}

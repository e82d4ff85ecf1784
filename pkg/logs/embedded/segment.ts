import { release } from '../own-memory.ts'
import type { Bitmap } from './bitmap.ts'
import { openBlocks } from './blocks.ts'
import { createByteReader } from './bytes.ts'
import { type Decompress, decompressOnce } from './decompress.ts'
import { type Dictionary, openDictionary } from './dictionary.ts'
import { toStarts } from './line-order.ts'
import { findPiece, type OpenFooter, packFooter, type Share } from './open-footer.ts'
import type { PieceCache } from './piece-cache.ts'
import { decodeFooter, type Piece, timeBlockSize } from './segment-format.ts'
import type { Source } from './source.ts'
import { useColumn } from './stream-column.ts'
import { documentsOfStreams, groupDocuments, keyOfStreams, type UseStreams } from './stream-documents.ts'
import { openTextBlocks, type TextBlocks } from './text-blocks.ts'
import type { TextColumn } from './text-scan.ts'
import type { WordFilters } from './word-filters.ts'

/** Texts are named by their places: all documents stand stream by stream, in each in order. */
export type Segment = TextBlocks & {
  readonly id: string
  readonly footer: Pick<
    OpenFooter,
    | 'day'
    | 'count'
    | 'streams'
    | 'firstTime'
    | 'lastTime'
    | 'firstSequence'
    | 'lastSequence'
    | 'textBytes'
    | 'filter'
  >
  /** Which lines have which word; undefined when only the lines can tell. */
  readonly dictionary: Dictionary | undefined
  /** All texts, of a segment that has them in memory. */
  readonly column?: TextColumn
  readonly timeOf: (document: number) => number
  readonly sequenceOf: (document: number) => number
  /** The first document that is not before this moment, or arrived not before this sequence in this moment. */
  readonly lowerBound: (time: number, sequence?: number) => number
  /** Which stream each document is of, by its place in the footer. */
  readonly useStreams: UseStreams
  /** The document at each place. */
  readonly groupDocuments: () => Grouping
  /** The documents of some streams; not to be changed. */
  readonly documentsOf: (streams: readonly number[]) => Bitmap
  /** Stream s has the places from streamStarts[s] up to streamStarts[s + 1]. */
  readonly streamStarts: Uint32Array
  /** What it answered before, of one that never changes. */
  readonly answers?: Pick<PieceCache, 'find' | 'keep'> | undefined
  readonly close: () => void
}

/** Holds until `leave` lets go of it. */
export type Grouping = { readonly documents: Uint32Array; readonly leave: () => void }

type Times = { readonly times: Float64Array; readonly sequences: Float64Array }

/** What segments that are open at a time have together. */
export type Shared = {
  readonly cache: PieceCache
  /** Where there is none nothing that was answered is kept. */
  readonly answers?: PieceCache
  readonly share?: Share
  readonly decompress?: Decompress
  readonly filters?: Pick<WordFilters, 'mayHave'>
}

export function openSegment(id: string, source: Source, shared: Shared): Segment {
  const { cache, answers, share = streams => streams, decompress = decompressOnce, filters } = shared
  const stored = decodeFooter(source.size, source.read)
  const streamStarts = toStarts(stored.streams.map(({ lines }) => lines))
  const footer = packFooter(stored, share)
  const load = (piece: Piece): Buffer => source.use(piece, decompress)

  function timesOf(document: number): Times {
    const index = Math.floor(document / timeBlockSize)
    const { times } = footer
    const count = Math.min(timeBlockSize, footer.count - index * timeBlockSize)
    return cache.get(
      `${id}/time/${index}`,
      () => decodeTimes(load(times.at(index)), count, times.firstAt(index)),
      () => 16 * count,
    )
  }

  function isBefore(document: number, time: number, sequence: number): boolean {
    const { times, sequences } = timesOf(document)
    const own = times[document % timeBlockSize] ?? 0
    return own < time || (own === time && (sequences[document % timeBlockSize] ?? 0) < sequence)
  }

  function lowerBound(time: number, sequence = 0): number {
    if (time < footer.firstTime) return 0
    if (time > footer.lastTime) return footer.count
    let [low, high] = blockRange(footer, time)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(middle, time, sequence)) low = middle + 1
      else high = middle
    }
    return low
  }

  const useStreams: UseStreams = work =>
    useColumn(footer.streamOf, streamStarts, { use: source.use, decompress }, work)

  return {
    id,
    footer,
    streamStarts,
    lowerBound,
    useStreams,
    groupDocuments: () => {
      const documents = useStreams(column => groupDocuments(column, streamStarts))
      return { documents, leave: () => release(documents) }
    },
    // Asked for with each question about a namespace, and an eighth of what the streams take, or less.
    documentsOf: streams =>
      cache.get(
        `${id}/streams/${keyOfStreams(streams)}`,
        () => documentsOfStreams(useStreams, streamStarts, streams),
        value => value.byteLength,
      ),
    ...openTextBlocks(footer, openBlocks(id, cache, load)),
    dictionary: openDictionary(footer, {
      // Of a block that is unpacked a quarter is looked at, and packed it takes half of the room.
      blocks: openBlocks(id, cache, source.read),
      read: source.read,
      use: source.use,
      decompress,
      mayHave: word => filters === undefined || filters.mayHave(id, word),
      known: {
        find: key => cache.find(`${id}/word/${key}`),
        keep: (key, value, bytes) => cache.keep(`${id}/word/${key}`, value, bytes),
      },
    }),
    timeOf: document => timesOf(document).times[document % timeBlockSize] ?? 0,
    sequenceOf: document => timesOf(document).sequences[document % timeBlockSize] ?? 0,
    answers: answers && {
      find: name => answers.find(`${id}/${name}`),
      keep: (name, value, bytes) => answers.keep(`${id}/${name}`, value, bytes),
    },
    close: () => {
      cache.forget(`${id}/`)
      answers?.forget(`${id}/`)
      source.close()
    },
  }
}

/** The documents among which the first one not before a moment must be. */
function blockRange({ times, count }: OpenFooter, time: number): [number, number] {
  // Blocks that begin with this very moment may all lie before a given sequence of it.
  const last = findPiece(times, time)
  let first = last
  while (first > 0 && times.firstAt(first) === time) first -= 1
  return [Math.max(first, 0) * timeBlockSize, Math.min((last + 1) * timeBlockSize, count)]
}

function decodeTimes(bytes: Buffer, count: number, firstTime: number): Times {
  const reader = createByteReader(bytes)
  const times = new Float64Array(count)
  const sequences = new Float64Array(count)
  let time = firstTime
  for (let i = 0; i < count; i += 1) {
    time += reader.varint()
    times[i] = time
  }
  let expected = 0
  for (let i = 0; i < count; i += 1) {
    const step = reader.varint()
    const sequence = expected + (step % 2 === 0 ? step / 2 : -(step + 1) / 2)
    sequences[i] = sequence
    expected = sequence + 1
  }
  return { times, sequences }
}

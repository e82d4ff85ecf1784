import { release, releaseOwn } from '../own-memory.ts'
import type { Bitmap } from './bitmap.ts'
import { openBlocks, pass } from './blocks.ts'
import { createByteReader } from './bytes.ts'
import { type Decompress, decompressOnce } from './decompress.ts'
import { type Dictionary, openDictionary } from './dictionary.ts'
import { invert, toStarts } from './line-order.ts'
import { findPiece, type OpenFooter, packFooter, type Share } from './open-footer.ts'
import type { PieceCache } from './piece-cache.ts'
import { decodeFooter, timeBlockSize } from './segment-format.ts'
import type { Source } from './source.ts'
import { decodeDocuments, decodeStreams, keyOfStreams } from './stream-documents.ts'
import { openTextBlocks, type TextBlocks } from './text-blocks.ts'
import type { TextColumn } from './text-scan.ts'

/** Texts are named by their places in `documents`. */
export type Segment = TextBlocks & {
  readonly id: string
  readonly footer: Pick<
    OpenFooter,
    'day' | 'count' | 'streams' | 'firstTime' | 'lastTime' | 'firstSequence' | 'lastSequence' | 'textBytes'
  >
  /** Which lines have which word; undefined when only the lines can tell. */
  readonly dictionary: Dictionary | undefined
  /** All texts, of a segment that has them in memory. */
  readonly column?: TextColumn
  readonly timeOf: (document: number) => number
  readonly sequenceOf: (document: number) => number
  /** The first document that is not before this moment, or arrived not before this sequence in this moment. */
  readonly lowerBound: (time: number, sequence?: number) => number
  /** All documents, stream by stream; stream s has those from streamStarts[s] up to streamStarts[s + 1]. */
  readonly documents: () => Uint32Array
  /** The same, and `places`, for who goes through them once: they take no other's room. */
  readonly passDocuments: () => PassingDocuments
  /** Those of some streams, named by their places in the footer; not to be changed. */
  readonly documentsOf: (streams: readonly number[]) => Bitmap
  readonly streamStarts: Uint32Array
  /** Where in `documents` each document is, which is where its text lies. */
  readonly places: () => Uint32Array
  /** What it answered before, of one that never changes. */
  readonly answers?: Pick<PieceCache, 'find' | 'keep'> | undefined
  readonly close: () => void
}

/** What was asked for holds until `leave` lets go of it, unless others have it too. */
export type PassingDocuments = {
  readonly documents: Uint32Array
  readonly places: () => Uint32Array
  readonly leave: () => void
}

type Times = { readonly times: Float64Array; readonly sequences: Float64Array }

/** What segments that are open at a time have together. */
export type Shared = {
  readonly cache: PieceCache
  /** Where there is none nothing that was answered is kept. */
  readonly answers?: PieceCache
  readonly share?: Share
  readonly decompress?: Decompress
}

export function openSegment(id: string, source: Source, shared: Shared): Segment {
  const { cache, answers, share = streams => streams, decompress = decompressOnce } = shared
  const stored = decodeFooter(source.size, source.read)
  const streamStarts = toStarts(stored.streams.map(({ lines }) => lines))
  const footer = packFooter(stored, share)
  const blocks = openBlocks(id, source, cache, decompress)
  const { load } = blocks

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

  function loadDocuments(): Uint32Array<ArrayBuffer> {
    const bytes = load(footer.documents)
    const documents = decodeDocuments(bytes, footer.count, streamStarts)
    releaseOwn(bytes)
    return documents
  }

  function documents(): Uint32Array {
    return cache.get(`${id}/documents`, loadDocuments, bytesOf)
  }

  function passDocuments(): PassingDocuments {
    const own: Uint32Array<ArrayBuffer>[] = []
    function enter(name: string, make: () => Uint32Array<ArrayBuffer>): Uint32Array {
      const key = `${id}/${name}`
      const found = cache.get(key, make, bytesOf, true)
      // Asked now: what is in the cache may be in another question's hands by the end, wherever it is by then.
      if (!cache.has(key)) own.push(found)
      return found
    }
    const passing = enter('documents', loadDocuments)
    let places: Uint32Array | undefined
    return {
      documents: passing,
      places: () => (places ??= enter('places', () => invert(passing))),
      leave: () => own.forEach(release),
    }
  }

  return {
    id,
    footer,
    streamStarts,
    lowerBound,
    documents,
    passDocuments,
    // Asked for with each question about a namespace, and an eighth to a thirtieth of what all documents take.
    documentsOf: streams =>
      cache.get(
        `${id}/streams/${keyOfStreams(streams)}`,
        () => decodeStreams(() => load(footer.documents), footer.count, streamStarts, streams),
        value => value.byteLength,
      ),
    ...openTextBlocks(footer, blocks),
    dictionary: openDictionary(footer, {
      block: (index, piece) => blocks.get(`words/${index}`, piece),
      through: (index, piece, look) => {
        const passing = blocks.enter(`words/${index}`, piece)
        look(passing.bytes)
        pass(passing)
      },
      list: source.read,
      useList: source.use,
      decompress,
      known: {
        find: key => cache.find(`${id}/word/${key}`),
        keep: (key, value, bytes) => cache.keep(`${id}/word/${key}`, value, bytes),
      },
    }),
    timeOf: document => timesOf(document).times[document % timeBlockSize] ?? 0,
    sequenceOf: document => timesOf(document).sequences[document % timeBlockSize] ?? 0,
    places: () => cache.get(`${id}/places`, () => invert(documents()), bytesOf),
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

function bytesOf({ byteLength }: Uint32Array): number {
  return byteLength
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

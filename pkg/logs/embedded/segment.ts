import type { Bitmap } from './bitmap.ts'
import { createByteReader } from './bytes.ts'
import { type Dictionary, openDictionary } from './dictionary.ts'
import { invert } from './line-order.ts'
import type { PieceCache } from './piece-cache.ts'
import { decodeFooter, decompress, type Footer, type Piece, timeBlockSize } from './segment-format.ts'
import { decodeDocuments, decodeStreams, keyOfStreams } from './stream-documents.ts'
import type { TextColumn } from './text-scan.ts'
import type { TextTest } from './text-test.ts'

/** Bytes of a segment: a file, or memory. */
export type Source = {
  readonly size: number
  readonly read: (piece: Piece) => Buffer
  readonly close: () => void
}

export type Segment = {
  readonly id: string
  readonly footer: Pick<
    Footer,
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
  /** Those of some streams, named by their places in the footer; not to be changed. */
  readonly documentsOf: (streams: readonly number[]) => Bitmap
  readonly streamStarts: Uint32Array
  /** Where in `documents` each document is, which is where its text lies. */
  readonly places: () => Uint32Array
  /** The text at a place of `documents`, as UTF-8. */
  readonly textAt: (place: number) => Buffer
  /** Whether it passes; of many, looked at one after the other, nothing is made for each. */
  readonly testText: (place: number, passes: TextTest) => boolean
  /** What it answered before, of one that never changes. */
  readonly answers?: Pick<PieceCache, 'find' | 'keep'>
  readonly close: () => void
}

type Times = { readonly times: Float64Array; readonly sequences: Float64Array }
type Texts = { readonly first: number; readonly bytes: Buffer; readonly starts: Uint32Array }

export function openSegment(id: string, source: Source, cache: PieceCache): Segment {
  const footer = decodeFooter(source.size, source.read)
  const load = (piece: Piece): Buffer => decompress(source.read(piece))
  const cached = (name: string, piece: Piece, isPassing = false): Buffer =>
    cache.get(
      `${id}/${name}`,
      () => load(piece),
      bytes => bytes.length,
      isPassing,
    )
  const streamStarts = new Uint32Array(footer.streams.length + 1)
  footer.streams.forEach(({ lines }, i) => {
    streamStarts[i + 1] = (streamStarts[i] ?? 0) + lines
  })
  let texts: Texts | undefined

  function timesOf(document: number): Times {
    const index = Math.floor(document / timeBlockSize)
    const piece = footer.times[index]
    if (piece === undefined) throw new RangeError(`segment ${id}: there is no document ${document}`)
    const count = Math.min(timeBlockSize, footer.count - index * timeBlockSize)
    return cache.get(
      `${id}/time/${index}`,
      () => decodeTimes(load(piece), count, piece.firstTime),
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

  function documents(): Uint32Array {
    return cache.get(
      `${id}/documents`,
      () => decodeDocuments(load(footer.documents), footer.count, streamStarts),
      value => value.byteLength,
    )
  }

  function textsWith(place: number, isPassing: boolean): Texts {
    if (texts === undefined || place < texts.first || place >= texts.first + texts.starts.length - 1) {
      const index = findText(footer, place)
      const piece = footer.texts[index]
      if (piece === undefined) throw new RangeError(`segment ${id}: there is no text ${place}`)
      texts = cutTexts(piece.first, cached(`text/${index}`, piece, isPassing))
    }
    return texts
  }

  return {
    id,
    footer,
    streamStarts,
    lowerBound,
    documents,
    // Asked for with each question about a namespace, and an eighth to a thirtieth of what all documents take.
    documentsOf: streams =>
      cache.get(
        `${id}/streams/${keyOfStreams(streams)}`,
        () => decodeStreams(() => load(footer.documents), footer.count, streamStarts, streams),
        value => value.byteLength,
      ),
    textAt: place => {
      const { first, bytes, starts } = textsWith(place, false)
      return bytes.subarray(starts[place - first], starts[place - first + 1])
    },
    testText: (place, passes) => {
      const { first, bytes, starts } = textsWith(place, true)
      return passes(bytes, starts[place - first] ?? 0, starts[place - first + 1] ?? 0)
    },
    dictionary: openDictionary(footer, {
      block: (index, piece, isPassing) => cached(`words/${index}`, piece, isPassing),
      list: source.read,
    }),
    timeOf: document => timesOf(document).times[document % timeBlockSize] ?? 0,
    sequenceOf: document => timesOf(document).sequences[document % timeBlockSize] ?? 0,
    places: () =>
      cache.get(
        `${id}/places`,
        () => invert(documents()),
        value => value.byteLength,
      ),
    answers: {
      find: name => cache.find(`${id}/answer/${name}`),
      keep: (name, value, bytes) => cache.keep(`${id}/answer/${name}`, value, bytes),
    },
    close: () => {
      cache.forget(`${id}/`)
      source.close()
    },
  }
}

/** The documents among which the first one not before a moment must be. */
function blockRange({ times, count }: Footer, time: number): [number, number] {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle]?.firstTime ?? 0) < time) low = middle + 1
    else high = middle
  }
  return [
    Math.max(low - 1, 0) * timeBlockSize,
    Math.min(endOfMoment(times, low, time) * timeBlockSize, count),
  ]
}

/** Blocks that begin with this very moment may all lie before a given sequence of it. */
function endOfMoment(times: Footer['times'], from: number, time: number): number {
  let end = from
  while (end < times.length && times[end]?.firstTime === time) end += 1
  return end
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

function findText({ texts }: Footer, place: number): number {
  let [low, high] = [0, texts.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((texts[middle]?.first ?? 0) <= place) low = middle + 1
    else high = middle
  }
  return low - 1
}

function cutTexts(first: number, block: Buffer): Texts {
  const count = block.readUInt32LE(0)
  const starts = new Uint32Array(count + 1)
  for (let i = 0; i < count; i += 1) starts[i + 1] = (starts[i] ?? 0) + block.readUInt32LE(4 + 4 * i)
  return { first, bytes: block.subarray(4 + 4 * count), starts }
}

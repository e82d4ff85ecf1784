import { toStarts } from './line-order.ts'
import type { Stream } from './lines.ts'
import type { Footer, Piece } from './segment-format.ts'

/** Numbers in four bytes each where they fit. */
type Column = Uint32Array | Float64Array

export type Pieces = { readonly count: number; readonly at: (index: number) => Piece }

/** Pieces in the order of what each begins with. */
export type OrderedPieces<Key> = Pieces & { readonly firstAt: (index: number) => Key }

/**
 * A footer as it is held while its segment is open. A store has thousands of them, each with a thousand streams and pieces:
 * an object for each would fill the heap.
 */
export type OpenFooter = Omit<Footer, 'streams' | 'texts' | 'times' | 'dictionary'> & {
  readonly streams: readonly Stream[]
  /** By the place of the first line. */
  readonly texts: OrderedPieces<number>
  /** By the first time. */
  readonly times: OrderedPieces<number>
  /** By the first word. */
  readonly dictionary: OrderedPieces<string> & { readonly listsAt: (index: number) => number }
}

/** Hands out the same objects for streams that are the same. */
export type Share = (streams: readonly Stream[]) => readonly Stream[]

export function packFooter(footer: Footer, share: Share): OpenFooter {
  const { streams, texts, times, dictionary } = footer
  const places = toColumn(texts.map(({ first }) => first))
  const moments = toColumn(times.map(({ firstTime }) => firstTime))
  const words = packTexts(dictionary.map(({ first }) => first))
  const lists = toColumn(dictionary.map(({ lists }) => lists))
  return {
    ...footer,
    streams: share(streams.map(({ lines: _, ...stream }) => stream)),
    texts: { ...packPieces(texts), firstAt: index => places[index] ?? 0 },
    times: { ...packPieces(times), firstAt: index => moments[index] ?? 0 },
    dictionary: { ...packPieces(dictionary), firstAt: words, listsAt: index => lists[index] ?? 0 },
  }
}

/** The last piece that begins with this or before it; -1 when there is none. */
export function findPiece<Key extends number | string>(pieces: OrderedPieces<Key>, key: Key): number {
  let [low, high] = [0, pieces.count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (pieces.firstAt(middle) <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}

function packPieces(pieces: readonly Piece[]): Pieces {
  const offsets = toColumn(pieces.map(({ offset }) => offset))
  const lengths = toColumn(pieces.map(({ length }) => length))
  return {
    count: pieces.length,
    at: index => {
      const [offset, length] = [offsets[index], lengths[index]]
      if (offset === undefined || length === undefined) throw new RangeError(`there is no piece ${index}`)
      return { offset, length }
    },
  }
}

/** Words are bytes, as one character each. */
function packTexts(texts: readonly string[]): (index: number) => string {
  const text = texts.join('')
  const bytes = Buffer.allocUnsafeSlow(text.length)
  bytes.write(text, 'latin1')
  const starts = toStarts(texts.map(({ length }) => length))
  return index => bytes.toString('latin1', starts[index], starts[index + 1])
}

function toColumn(numbers: readonly number[]): Column {
  const fits = numbers.every(number => number < 2 ** 32 && Number.isInteger(number))
  return fits ? Uint32Array.from(numbers) : Float64Array.from(numbers)
}

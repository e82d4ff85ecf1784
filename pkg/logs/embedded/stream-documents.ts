import { hash } from 'node:crypto'
import { release } from '../own-memory.ts'
import { type Bitmap, emptyBitmap, rangeBitmap, setBit } from './bitmap.ts'
import type { StreamColumn } from './stream-column.ts'

/** Lends the column for as long as the work goes on. */
export type UseStreams = <T>(work: (column: StreamColumn) => T) => T

/** All documents, stream by stream: those of stream s from streamStarts[s] up to streamStarts[s + 1]. */
export function groupDocuments(column: StreamColumn, streamStarts: Uint32Array): Uint32Array<ArrayBuffer> {
  const documents = new Uint32Array(column.length)
  const next = streamStarts.slice()
  for (let document = 0; document < column.length; document += 1) {
    const stream = column[document] ?? 0
    const place = next[stream] ?? 0
    documents[place] = document
    next[stream] = place + 1
  }
  release(next)
  return documents
}

/** Documents in the order of their places among all, which are stream by stream; of each its place and its stream. */
export type Located = {
  readonly documents: Uint32Array
  readonly places: Uint32Array
  readonly streams: Uint32Array
}

/** @param wanted documents in order */
export function locate(column: StreamColumn, streamStarts: Uint32Array, wanted: Uint32Array): Located {
  const length = wanted.length
  const located = {
    documents: new Uint32Array(length),
    places: new Uint32Array(length),
    streams: new Uint32Array(length),
  }
  /** Of each stream where its next one goes, and the place of the next document. */
  const [slots, next] = [new Uint32Array(streamStarts.length), streamStarts.slice()]
  for (let i = 0; i < length; i += 1) {
    const after = (column[wanted[i] ?? 0] ?? 0) + 1
    slots[after] = (slots[after] ?? 0) + 1
  }
  for (let stream = 1; stream < slots.length; stream += 1)
    slots[stream] = (slots[stream] ?? 0) + (slots[stream - 1] ?? 0)
  let document = 0
  for (let i = 0; i < length; i += 1) {
    const one = wanted[i] ?? 0
    for (; document < one; document += 1) {
      const stream = column[document] ?? 0
      next[stream] = (next[stream] ?? 0) + 1
    }
    const stream = column[one] ?? 0
    const slot = slots[stream] ?? 0
    slots[stream] = slot + 1
    located.documents[slot] = one
    located.places[slot] = next[stream] ?? 0
    located.streams[slot] = stream
  }
  release(slots)
  release(next)
  return located
}

/**
 * The documents of some streams.
 *
 * @param use what has the column, which is not needed where all or none are wanted
 */
export function documentsOfStreams(
  use: UseStreams,
  streamStarts: Uint32Array,
  streams: readonly number[],
): Bitmap {
  const count = streamStarts.at(-1) ?? 0
  const isWanted = new Uint8Array(streamStarts.length - 1)
  for (const stream of streams) isWanted[stream] = 1
  if (!isWanted.includes(0)) return rangeBitmap(count, 0, count)
  const bits = emptyBitmap(count)
  if (streams.length === 0) return bits
  use(column => {
    for (let document = 0; document < count; document += 1)
      if (isWanted[column[document] ?? 0] === 1) setBit(bits, document)
  })
  return bits
}

/** The same for the same streams in the same order; short however many they are. */
export function keyOfStreams(streams: readonly number[]): string {
  return hash('sha256', streams.join(','), 'base64')
}

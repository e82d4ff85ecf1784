import { hash } from 'node:crypto'
import { type Bitmap, emptyBitmap, rangeBitmap, setBit } from './bitmap.ts'
import { forEachStep, passSteps } from './steps.ts'

// A segment lists the documents of its streams in steps, one stream after the other.

/** All documents, stream by stream. */
export function decodeDocuments(
  bytes: Buffer,
  count: number,
  streamStarts: Uint32Array,
): Uint32Array<ArrayBuffer> {
  const documents = new Uint32Array(count)
  let place = 0
  const take = (document: number): void => {
    documents[place++] = document
  }
  let at = 0
  for (let stream = 0; stream + 1 < streamStarts.length; stream += 1)
    at = forEachStep(bytes, at, linesOf(streamStarts, stream), take)
  return documents
}

/**
 * The documents of some streams; those of the others are passed over.
 *
 * @param load the bytes, which are not needed where all or none are wanted
 */
export function decodeStreams(
  load: () => Buffer,
  count: number,
  streamStarts: Uint32Array,
  streams: readonly number[],
): Bitmap {
  const wanted = new Set(streams)
  if (wanted.size === streamStarts.length - 1) return rangeBitmap(count, 0, count)
  const bits = emptyBitmap(count)
  if (wanted.size === 0) return bits
  const take = (document: number): void => setBit(bits, document)
  const bytes = load()
  // Not Math.max(...streams): there may be more than a call takes arguments.
  const last = streams.reduce((a, b) => Math.max(a, b), 0)
  let at = 0
  for (let stream = 0; stream <= last; stream += 1) {
    const lines = linesOf(streamStarts, stream)
    at = wanted.has(stream) ? forEachStep(bytes, at, lines, take) : passSteps(bytes, at, lines)
  }
  return bits
}

/** The same for the same streams in the same order; short however many they are. */
export function keyOfStreams(streams: readonly number[]): string {
  return hash('sha256', streams.join(','), 'base64')
}

function linesOf(streamStarts: Uint32Array, stream: number): number {
  return (streamStarts[stream + 1] ?? 0) - (streamStarts[stream] ?? 0)
}

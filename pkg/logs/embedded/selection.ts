import type { Expression } from '../expression.ts'
import type { LogFilter } from '../filter.ts'
import { release } from '../own-memory.ts'
import { and, andNot, type Bitmap, countBits, hasBit, isEmpty, setBit } from './bitmap.ts'
import { findCandidates, findScope } from './candidates.ts'
import { dayOf, timeInDay } from './lines.ts'
import type { Segment } from './segment.ts'
import { locate } from './stream-documents.ts'
import { isSurelyNone } from './surely-none.ts'
import { createVerifier, type Verifier } from './verifier.ts'

/** Documents from `from` up to `to` that are selected; all of them when there is no bitmap. */
export type Selection = {
  readonly from: number
  readonly to: number
  readonly bits: Bitmap | undefined
  /** How many they are, where that is known already. */
  readonly count?: number | undefined
}

const nothing: Selection = { from: 0, to: 0, bits: undefined }

/** How many texts are looked at before others have their turn. */
const turn = 500
// Of fewer than one of so many it is sooner worked out where they lie.
const fewFactor = 8

/**
 * What a filter selects of a segment. A generator, so that long work can be put aside or given up: it yields now and then.
 */
export function* select(segment: Segment, filter: LogFilter): Generator<void, Selection> {
  const { expression } = filter
  if (expression !== undefined && isSurelyNone(segment, expression)) return nothing
  const { from, to } = timeRange(segment, filter)
  if (from >= to) return nothing
  const scope = findScope(segment, filter.scope)
  if (scope !== undefined && isEmpty(scope)) return nothing
  if (expression === undefined) return { from, to, bits: scope }
  const { must, may, count } = findCandidates(segment, expression)
  if (isEmpty(may)) return nothing
  const bits = scope === undefined ? must : and(must, scope)
  const isWhole = scope === undefined && from === 0 && to === segment.footer.count
  if (must === may) return { from, to, bits, count: isWhole ? count : undefined }
  const open = andNot(scope === undefined ? may : and(may, scope), must)
  yield* verify(segment, { expression, from, to, open, bits })
  return { from, to, bits }
}

/**
 * Adds to `bits` those of `open` that really match, in the order in which their texts lie. What is needed for it is let go of: a
 * store of many segments has no room for it, and what waits for a collection while this thread rests is old by then, and
 * collected with everything there is.
 */
function* verify(segment: Segment, work: Verification): Generator<void, void> {
  const { expression, from, to, open } = work
  const count = countBits(open, from, to)
  if (count === 0) return
  const matches = createVerifier(segment, expression)
  yield* count * fewFactor < segment.footer.count
    ? verifyFew(segment, work, matches)
    : verifyMany(segment, work, matches)
}

type Verification = Pick<Selection, 'from' | 'to'> & {
  readonly expression: Expression
  readonly open: Bitmap
  readonly bits: Bitmap
}

function* verifyFew(segment: Segment, work: Verification, matches: Verifier): Generator<void, void> {
  const wanted = toDocuments(work.open, work)
  const { documents, places, streams } = segment.useStreams(column =>
    locate(column, segment.streamStarts, wanted),
  )
  for (let i = 0; i < wanted.length; i += 1) {
    if (i % turn === turn - 1) yield
    if (matches(streams[i] ?? 0, places[i] ?? 0)) setBit(work.bits, documents[i] ?? 0)
  }
  for (const made of [wanted, documents, places, streams]) release(made)
  segment.leaveTexts()
}

/** The same of so many that to go through all costs no more than to sort them. */
function* verifyMany(segment: Segment, work: Verification, matches: Verifier): Generator<void, void> {
  const { from, to, open, bits } = work
  const { streamStarts } = segment
  const { documents, leave } = segment.groupDocuments()
  let looked = 0
  for (let stream = 0; stream + 1 < streamStarts.length; stream += 1) {
    const end = streamStarts[stream + 1] ?? 0
    for (let place = streamStarts[stream] ?? 0; place < end; place += 1) {
      const document = documents[place] ?? 0
      if (document < from || document >= to || !hasBit(open, document)) continue
      if (matches(stream, place)) setBit(bits, document)
      looked += 1
      if (looked % turn === 0) yield
    }
  }
  leave()
  segment.leaveTexts()
}

/** Like takeBits, but tens of thousands of numbers are let go of at once. */
function toDocuments(bits: Bitmap, { from, to }: Pick<Selection, 'from' | 'to'>): Uint32Array<ArrayBuffer> {
  const documents = new Uint32Array(countBits(bits, from, to))
  let at = 0
  for (let document = from; at < documents.length; document += 1) {
    if (bits[document >>> 5] === 0) document |= 31
    else if (hasBit(bits, document)) documents[at++] = document
  }
  return documents
}

/** The documents between the filter's first and last moment. */
export function timeRange(segment: Segment, { startNs, endNs }: LogFilter): { from: number; to: number } {
  const { day, count } = segment.footer
  if (endNs !== undefined && dayOf(endNs) < day) return { from: 0, to: 0 }
  if (startNs !== undefined && dayOf(startNs) > day) return { from: 0, to: 0 }
  const from = startNs !== undefined && dayOf(startNs) === day ? segment.lowerBound(timeInDay(startNs)) : 0
  const to = endNs !== undefined && dayOf(endNs) === day ? segment.lowerBound(timeInDay(endNs) + 1) : count
  return { from, to }
}

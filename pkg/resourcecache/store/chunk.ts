import { type CachedObject, toKeyPrefix } from './cached-object.ts'
import { lowerBound } from './lower-bound.ts'

/**
 * A range of neighbours in a sorted index. Chunks are immutable, so a copy of the list of chunks is
 * a snapshot. Data derived from a chunk (compressed bytes) is valid as long as the chunk is in use.
 */
export class Chunk {
  readonly entries: readonly CachedObject[]

  constructor(entries: readonly CachedObject[]) {
    this.entries = entries
  }
}

/** Consecutive objects of a chunk, from `start` up to but not including `end`. */
export type ChunkRange = { readonly chunk: Chunk; readonly start: number; readonly end: number }

/** A part of a sorted sequence as a list of runs; reversed if `descending`. */
export type Selection = { readonly runs: readonly ChunkRange[]; readonly descending: boolean }

// Small enough that a changed object is cheap to compress again, and large enough that neighbours
// share a compression dictionary.
const leafSize = 24

/** Splits sorted objects into chunks of at most twice the size, for few splits later. */
export function toChunks(entries: readonly CachedObject[]): Chunk[] {
  if (entries.length > 0 && entries.length <= 2 * leafSize) return [new Chunk(entries)]
  const chunks: Chunk[] = []
  for (let i = 0; i < entries.length; i += leafSize) chunks.push(new Chunk(entries.slice(i, i + leafSize)))
  return chunks
}

export function countEntries(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.entries.length, 0)
}

/** Returns `count` objects from `offset`; counted from the end and in reverse if `descending`. */
export function selectPage(
  chunks: readonly Chunk[],
  page: {
    readonly offset: number
    readonly count: number
    readonly descending: boolean
    readonly size: number
  },
): Selection {
  const { offset, count, descending, size } = page
  const start = descending ? Math.max(size - offset - count, 0) : offset
  const end = descending ? size - offset : Math.min(offset + count, size)
  const runs = start < end ? runsBetween(chunks, { start, end, size }) : []
  return { runs: descending ? runs.reverse() : runs, descending }
}

/** Searches from the nearer end, so that the cost does not grow with the total. */
function runsBetween(
  chunks: readonly Chunk[],
  { start, end, size }: { readonly start: number; readonly end: number; readonly size: number },
): ChunkRange[] {
  const lengthAt = (at: number) => chunks[at]?.entries.length ?? 0
  const isNearStart = start <= size - end
  let at = isNearStart ? 0 : chunks.length
  // Number of objects before the chunk at index `at`.
  let first = isNearStart ? 0 : size
  if (isNearStart) while (at < chunks.length && first + lengthAt(at) <= start) first += lengthAt(at++)
  else while (at > 0 && first > start) first -= lengthAt(--at)
  const runs: ChunkRange[] = []
  for (let chunk = chunks[at]; chunk !== undefined && first < end; chunk = chunks[++at]) {
    const { length } = chunk.entries
    runs.push({ chunk, start: Math.max(start - first, 0), end: Math.min(end - first, length) })
    first += length
  }
  return runs
}

/**
 * Generates the objects in the given namespaces, or all objects, in key order, as the chunks are.
 * Objects of other namespaces are skipped without being visited.
 */
export function* entriesWithin(
  chunks: readonly Chunk[],
  namespaces: Iterable<string> | undefined,
): Generator<CachedObject> {
  if (namespaces === undefined) for (const { entries } of chunks) yield* entries
  else for (const prefix of Array.from(namespaces, toKeyPrefix).sort()) yield* entriesOfPrefix(chunks, prefix)
}

function* entriesOfPrefix(chunks: readonly Chunk[], prefix: string): Generator<CachedObject> {
  let at = lowerBound(chunks, ({ entries }) => (entries.at(-1)?.key ?? '') < prefix)
  for (let chunk = chunks[at]; chunk !== undefined; chunk = chunks[++at])
    for (const entry of chunk.entries) {
      if (entry.key < prefix) continue
      if (!entry.key.startsWith(prefix)) return
      yield entry
    }
}

/** Returns the position of the first object after `key`, in chunks in key order. */
export function offsetAfter(chunks: readonly Chunk[], key: string): number {
  let offset = 0
  for (const { entries } of chunks) {
    const last = entries.at(-1)
    if (last !== undefined && last.key > key) return offset + entries.findIndex(entry => entry.key > key)
    offset += entries.length
  }
  return offset
}

export function* entriesOf({ runs, descending }: Selection): Generator<CachedObject> {
  for (const { chunk, start, end } of runs) {
    const entries = chunk.entries.slice(start, end)
    yield* descending ? entries.reverse() : entries
  }
}

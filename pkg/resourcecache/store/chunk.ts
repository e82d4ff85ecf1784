import type { Entry } from './cached-object.ts'

/**
 * A range of neighbours in a sorted index. Chunks are immutable, so a copy of the list of chunks is
 * a snapshot, and data derived from a chunk (compressed bytes) is valid as long as the chunk is in
 * use.
 */
export class Leaf {
  readonly entries: readonly Entry[]

  constructor(entries: readonly Entry[]) {
    this.entries = entries
  }
}

/** Neighbouring objects of a chunk, from `start` up to but not including `end`. */
export type Run = { readonly leaf: Leaf; readonly start: number; readonly end: number }

/**
 * A part of a sorted sequence: its position, the total count, and whether it is read from the end.
 */
export type Selection = { readonly runs: readonly Run[]; readonly descending: boolean }

// Small enough that a changed object is cheap to compress again, large enough that neighbours share
// a compression dictionary.
const leafSize = 24

/**
 * Splits sorted objects into chunks; up to twice the size stays one chunk, so that insertions
 * rarely split.
 */
export function toLeaves(entries: readonly Entry[]): Leaf[] {
  if (entries.length > 0 && entries.length <= 2 * leafSize) return [new Leaf(entries)]
  const leaves: Leaf[] = []
  for (let i = 0; i < entries.length; i += leafSize) leaves.push(new Leaf(entries.slice(i, i + leafSize)))
  return leaves
}

export function countEntries(leaves: readonly Leaf[]): number {
  return leaves.reduce((sum, leaf) => sum + leaf.entries.length, 0)
}

/** Returns `count` objects from `offset`; counted from the end and in reverse if `descending`. */
export function selectPage(
  leaves: readonly Leaf[],
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
  const runs = start < end ? runsBetween(leaves, { start, end, size }) : []
  return { runs: descending ? runs.reverse() : runs, descending }
}

/**
 * Searches from the nearer end: pages are read from an end, and their cost must not grow with the
 * rest.
 */
function runsBetween(
  leaves: readonly Leaf[],
  { start, end, size }: { readonly start: number; readonly end: number; readonly size: number },
): Run[] {
  const lengthAt = (at: number) => leaves[at]?.entries.length ?? 0
  const isNearStart = start <= size - end
  let at = isNearStart ? 0 : leaves.length
  // How many entries lie before the leaf at `at`.
  let first = isNearStart ? 0 : size
  if (isNearStart) while (at < leaves.length && first + lengthAt(at) <= start) first += lengthAt(at++)
  else while (at > 0 && first > start) first -= lengthAt(--at)
  const runs: Run[] = []
  for (let leaf = leaves[at]; leaf !== undefined && first < end; leaf = leaves[++at]) {
    const { length } = leaf.entries
    runs.push({ leaf, start: Math.max(start - first, 0), end: Math.min(end - first, length) })
    first += length
  }
  return runs
}

/** Position of the first object after `key`, in chunks ordered by key. */
export function offsetAfter(leaves: readonly Leaf[], key: string): number {
  let offset = 0
  for (const { entries } of leaves) {
    const last = entries.at(-1)
    if (last !== undefined && last.key > key) return offset + entries.findIndex(entry => entry.key > key)
    offset += entries.length
  }
  return offset
}

export function* entriesOf({ runs, descending }: Selection): Generator<Entry> {
  for (const { leaf, start, end } of runs) {
    const entries = leaf.entries.slice(start, end)
    yield* descending ? entries.reverse() : entries
  }
}

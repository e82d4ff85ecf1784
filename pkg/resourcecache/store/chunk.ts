import type { Entry } from './cached-object.ts'

/**
 * A run of neighbours in a sorted index. Leaves are replaced and never changed, so that a copy of the list of leaves is a
 * snapshot, and what was made from a leaf (compressed bytes) stays good for as long as the leaf is in use.
 */
export class Leaf {
  readonly entries: readonly Entry[]

  constructor(entries: readonly Entry[]) {
    this.entries = entries
  }
}

/** Neighbouring entries of one leaf, from `start` up to but not including `end`. */
export type Run = { readonly leaf: Leaf; readonly start: number; readonly end: number }

/** Part of a sorted sequence: where it lies, how many there are in all, and whether it is read from the end. */
export type Selection = { readonly runs: readonly Run[]; readonly descending: boolean }

// Small enough that one changed object costs little to compress again, large enough that neighbours share a dictionary.
const leafSize = 24

/** Cuts sorted entries into leaves; up to twice the size stays one leaf, so that insertions do not split at each turn. */
export function toLeaves(entries: readonly Entry[]): Leaf[] {
  if (entries.length > 0 && entries.length <= 2 * leafSize) return [new Leaf(entries)]
  const leaves: Leaf[] = []
  for (let i = 0; i < entries.length; i += leafSize) leaves.push(new Leaf(entries.slice(i, i + leafSize)))
  return leaves
}

export function countEntries(leaves: readonly Leaf[]): number {
  return leaves.reduce((sum, leaf) => sum + leaf.entries.length, 0)
}

/** `count` entries from `offset` on; counted from the end, and read towards the start, when `descending`. */
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

/** Found from the nearer side: pages are read from an end on, and what they cost must not grow with what is behind them. */
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

/** Where the entries after `key` begin, in leaves that are ordered by key. */
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

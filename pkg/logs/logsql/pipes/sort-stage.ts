import { compareKeys, type SortKey, sortKey } from '../order.ts'
import type { Pipe } from '../query.ts'
import type { Row } from '../row.ts'
import { type Budget, keyOf, type Stage, sizeOfRow, valuesOf } from './stage.ts'

type Entry = {
  readonly row: Row
  readonly keys: readonly SortKey[]
  readonly arrival: number
  readonly size: number
}

/** Sorts rows; with a limit only so many are held. Rows that are equal stay in their order. */
export function createSortStage(
  { by, offset, limit, rank, partitionBy }: Extract<Pipe, { readonly kind: 'sort' }>,
  next: Stage,
  budget: Budget,
): Stage {
  const partitions = new Map<string, Entry[]>()
  const most = limit === undefined ? Infinity : offset + limit
  let arrival = 0

  const compare = (a: Entry, b: Entry): number => {
    for (const [i, { isDescending }] of by.entries()) {
      const [x, y] = [a.keys[i], b.keys[i]]
      const order = x === undefined || y === undefined ? 0 : compareKeys(x, y)
      if (order !== 0) return isDescending ? -order : order
    }
    return a.arrival - b.arrival
  }

  /** Lets go of what cannot be among the first. */
  const cut = (entries: Entry[]): void => {
    entries.sort(compare)
    for (const { size } of entries.splice(most)) budget.take(-size)
  }

  return {
    push: row => {
      const key = keyOf(valuesOf(row, partitionBy))
      const entries = partitions.get(key) ?? []
      if (entries.length === 0) partitions.set(key, entries)
      const size = sizeOfRow(row)
      budget.take(size)
      const keys = by.map(({ field }) => sortKey(row.get(field) ?? ''))
      entries.push({ row, keys, arrival: arrival++, size })
      if (entries.length >= 2 * most + 100) cut(entries)
      return true
    },
    end: () => {
      for (const entries of partitions.values()) {
        cut(entries)
        for (const [i, { row }] of entries.entries()) {
          if (i < offset) continue
          const ranked = rank === undefined ? row : new Map([...row, [rank, String(i + 1)]])
          if (!next.push(ranked)) break
        }
      }
      next.end()
    },
  }
}

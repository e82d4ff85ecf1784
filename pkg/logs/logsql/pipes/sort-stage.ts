import { compareKeys, type SortKey, sortKey } from '../order.ts'
import type { Pipe } from '../query.ts'
import type { Row } from '../row.ts'
import { createTopItems, sortInSteps, type TopItems } from './sort-in-steps.ts'
import { type Budget, keyOf, type Stage, sizeOf, sizeOfRow, valuesOf } from './stage.ts'

type Entry = {
  readonly row: Row
  readonly keys: readonly SortKey[]
  readonly arrival: number
  readonly size: number
}

// Measured bytes of an entry, a key and a partition, which are most of a small row.
const [entryBytes, keyBytes, partitionBytes] = [420, 128, 400]

/** Creates the stable sort of rows, which with a limit keeps only that many. */
export function createSortStage(
  { by, offset, limit, rank, partitionBy }: Extract<Pipe, { readonly kind: 'sort' }>,
  next: Stage,
  budget: Budget,
): Stage {
  const partitions = new Map<string, TopItems<Entry>>()
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

  return {
    push: row => {
      const key = keyOf(valuesOf(row, partitionBy))
      let firsts = partitions.get(key)
      if (firsts === undefined) {
        budget.take(sizeOf([key]) + partitionBytes)
        firsts = createTopItems(most, compare)
        partitions.set(key, firsts)
      }
      const size = sizeOfRow(row) + entryBytes + keyBytes * by.length
      budget.take(size)
      const keys = by.map(({ field }) => sortKey(row.get(field) ?? ''))
      const cut = firsts.add({ row, keys, arrival: arrival++, size })
      if (cut !== undefined) budget.take(-cut.size)
      return true
    },
    *end() {
      for (const { items } of partitions.values()) {
        for (const [i, { row }] of (yield* sortInSteps(items, compare)).entries()) {
          yield
          if (i < offset) continue
          const ranked = rank === undefined ? row : new Map([...row, [rank, String(i + 1)]])
          if (!next.push(ranked)) break
        }
      }
      yield* next.end()
    },
  }
}

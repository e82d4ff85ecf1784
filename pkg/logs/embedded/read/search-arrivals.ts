import type { LogFilter } from '../../filter/filter.ts'
import { type Hit, maxPageChars } from '../../store.ts'
import type { PartitionId } from '../partition/partition-id.ts'
import type { PartitionReader } from '../partition/partition-reader.ts'
import { toPartitionQuery, toQuery } from './query.ts'
import { firstWithin, locationsFrom, readHits } from './selected-lines.ts'
import { select, toWindow, type Work } from './selection.ts'

/** The number of the first line to search, by partition. */
export type ArrivalPositions = readonly { readonly partition: PartitionId; readonly from: number }[]

/** New lines, and the next position per partition. `isCut` means that more lines follow. */
export type ArrivalPage = {
  readonly hits: readonly Hit[]
  readonly next: readonly (ArrivalPositions[number] & { readonly isCut: boolean })[]
}

/** Returns matching lines from the given positions in order of arrival, at most a page. */
export function* searchArrivals(
  partitions: readonly PartitionReader[],
  filter: LogFilter,
  ranges: ArrivalPositions,
): Work<ArrivalPage> {
  const query = toQuery(filter)
  const hits: Hit[] = []
  const next: { partition: PartitionId; from: number; isCut: boolean }[] = []
  let left = maxPageChars
  for (const { partition: id, from } of ranges) {
    const partition = partitions.find(one => one.id === id)
    if (partition === undefined) continue
    if (left <= 0) {
      next.push({ partition: id, from, isCut: true })
      continue
    }
    partition.refresh()
    const end = Math.max(partition.lines, from)
    const own = toPartitionQuery(query, partition)
    const blocks = partition.blocks.filter(({ first, count }) => first + count > from)
    if (own === undefined || blocks.length === 0) {
      next.push({ partition: id, from: end, isCut: false })
      continue
    }
    const window = toWindow(blocks)
    const selection = yield* select(partition, own, window)
    const locations = locationsFrom(partition, window, selection, from)
    const read = firstWithin(locations, left)
    const unread = locations[read.length]
    hits.push(...(yield* readHits(read)))
    left -= read.reduce((sum, { chars }) => sum + chars, 0)
    next.push({
      partition: id,
      from: unread === undefined ? end : unread.block.first + unread.index,
      isCut: unread !== undefined,
    })
  }
  return { hits, next }
}

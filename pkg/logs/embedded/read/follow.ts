import { setTimeout as sleep } from 'node:timers/promises'
import type { LogFilter } from '../../filter/filter.ts'
import type { Hit } from '../../store.ts'
import type { CommittedLines } from '../write/store-writer.ts'
import type { ArrivalPage, ArrivalPositions } from './search-arrivals.ts'

/** Notifies followers of commits. */
export type Feed = {
  readonly publish: (committed: readonly CommittedLines[]) => void
  /** Yields newly committed lines that match, in order of arrival, until the abort. */
  readonly follow: (filter: LogFilter, signal: AbortSignal) => AsyncGenerator<readonly Hit[]>
}

export type ReadArrivals = (
  filter: LogFilter,
  ranges: ArrivalPositions,
  signal: AbortSignal,
) => Promise<ArrivalPage>

// Delay between reads, so that commits in quick succession are read together.
const gatherMs = 200

export function createFeed(read: ReadArrivals): Feed {
  const followers = new Set<(committed: readonly CommittedLines[]) => void>()

  async function* follow(filter: LogFilter, signal: AbortSignal): AsyncGenerator<readonly Hit[]> {
    /** First unread line, by partition. Contains only partitions with unread lines. */
    const unread = new Map<string, number>()
    /** Line after the last read line, by partition. */
    const position = new Map<string, number>()
    let wake = (): void => undefined
    const notice = (committed: readonly CommittedLines[]): void => {
      for (const { partition, from } of committed) {
        if (!unread.has(partition)) unread.set(partition, from)
      }
      wake()
    }
    followers.add(notice)
    signal.addEventListener('abort', () => wake())
    try {
      while (!signal.aborted) {
        if (unread.size === 0) {
          const { promise, resolve } = Promise.withResolvers<void>()
          wake = resolve
          await promise
          continue
        }
        // A read may return lines whose commit is notified only later. toRanges skips these.
        const ranges = toRanges(unread, position)
        unread.clear()
        const { hits, next } = await read(filter, ranges, signal)
        for (const { partition, from } of next) position.set(partition, from)
        for (const { partition, from } of next.filter(({ isCut }) => isCut)) unread.set(partition, from)
        if (hits.length > 0) yield hits
        await sleep(gatherMs, undefined, { signal }).catch(() => undefined)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      followers.delete(notice)
    }
  }

  return {
    publish: committed => {
      for (const notice of followers) notice(committed)
    },
    follow,
  }
}

function toRanges(
  unread: ReadonlyMap<string, number>,
  position: ReadonlyMap<string, number>,
): ArrivalPositions {
  return [...unread].map(([partition, from]) => ({
    partition,
    from: Math.max(from, position.get(partition) ?? 0),
  }))
}

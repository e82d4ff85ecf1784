import { setTimeout as sleep } from 'node:timers/promises'
import { Status } from '../../apierrors/status.ts'
import { exportHits } from '../export-records.ts'
import type { LogFilter } from '../filter/filter.ts'
import type { Hit, LogQuery, QueryLimits } from '../store.ts'
import { queryRecords, type Search } from './search.ts'

const everyMs = 1_000
const timeoutMs = 10_000
// Each poll searches this far back: shippers buffer lines, and the search engine makes them
// searchable with a delay.
const overlapNs = 15_000_000_000n

/**
 * Follows new lines by polling, since search engines have no notifications. A line that arrives
 * more than 15 seconds after its time is missed.
 */
export async function* followRecords(
  search: Search,
  filter: LogFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly Hit[]> {
  const store = { query: (query: LogQuery, limits: QueryLimits) => queryRecords(search, query, limits) }
  // undefined until the existing records are known.
  let seen: ReadonlySet<string> | undefined
  while (!signal.aborted) {
    const startNs = max(BigInt(Date.now()) * 1_000_000n - overlapNs, filter.startNs ?? 0n)
    const recent = new Set<string>()
    try {
      const recentLines = { filter: { ...filter, startNs }, order: 'asc', limit: Infinity } as const
      for await (const hits of exportHits(store, recentLines, { timeoutMs, signal })) {
        for (const { cursor } of hits) recent.add(cursor)
        const fresh = hits.filter(({ cursor }) => seen?.has(cursor) === false)
        if (fresh.length > 0) yield fresh
      }
      seen = recent
    } catch (error) {
      if (signal.aborted) return
      if (!isPassing(error)) throw error
      // Records that were already yielded remain known if a later page fails.
      seen &&= new Set([...seen, ...recent])
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Reports whether an error is temporary, so that following continues. */
function isPassing(error: unknown): boolean {
  return error instanceof Status && error.code >= 429
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

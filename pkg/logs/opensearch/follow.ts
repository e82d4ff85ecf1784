import { setTimeout as sleep } from 'node:timers/promises'
import { Status } from '../../apierrors/status.ts'
import type { LogFilter } from '../filter.ts'
import type { Hit } from '../store.ts'
import { queryRecords, type Search } from './search.ts'

const everyMs = 1_000
const timeoutMs = 10_000
const page = 1_000
// Lines come late: shippers collect them, and the engine shows them a moment after it took them.
const overlapNs = 15_000_000_000n

/**
 * What arrives, found by asking for the newest time again and again: search engines tell nobody of what they store. A line
 * that comes more than 15 seconds after it was written is not shown.
 */
export async function* followRecords(
  search: Search,
  filter: LogFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly Hit[]> {
  let seen = new Set<string>()
  let isFirst = true
  while (!signal.aborted) {
    const startNs = max(BigInt(Date.now()) * 1_000_000n - overlapNs, filter.startNs ?? 0n)
    try {
      const recent = await readSince(search, { ...filter, startNs }, signal)
      const fresh = recent.filter(({ cursor }) => !seen.has(cursor))
      seen = new Set(recent.map(({ cursor }) => cursor))
      if (!isFirst && fresh.length > 0) yield fresh
      isFirst = false
    } catch (error) {
      if (signal.aborted) return
      // A tail outlives an engine that is away for a while.
      if (!(error instanceof Status && error.code >= 429)) throw error
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined)
  }
}

async function readSince(search: Search, filter: LogFilter, signal: AbortSignal): Promise<readonly Hit[]> {
  const all: Hit[] = []
  let start: { from: number } | { after: string } = { from: 0 }
  for (;;) {
    const query = { filter, order: 'asc', size: page, start, withTotal: false } as const
    const { hits } = await queryRecords(search, query, { timeoutMs, signal })
    all.push(...hits)
    const last = hits.at(-1)
    if (last === undefined || hits.length < page) return all
    start = { after: last.cursor }
  }
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { LogFilter } from '../filter.ts'
import type { Hit } from '../store.ts'
import type { Reader } from './reader.ts'
import { sequenceOf } from './search.ts'

const pauseMs = 500
const size = 1000
const timeoutMs = 30_000

/** Asks again and again for what arrived since; ends with the signal. */
export async function* follow(
  reader: Reader,
  filter: LogFilter,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Hit[]> {
  let after = since
  while (!signal.aborted) {
    let hits: readonly Hit[]
    try {
      hits = await reader.arrivals(filter, { after, size }, { timeoutMs, signal })
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    if (hits.length > 0) yield hits
    after = Math.max(after, ...hits.map(({ cursor }) => sequenceOf(cursor)))
    if (hits.length < size) await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

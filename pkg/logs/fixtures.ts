import { badRequest } from '../apierrors/status.ts'
import { createTimeSlices } from '../scheduling/time-slices.ts'
import type { LogFilter } from './filter/filter.ts'
import { createMatcher } from './filter/matcher.ts'
import { bucketStart, fillBuckets } from './histogram-interval.ts'
import { createIngestRecords } from './ingest/ingest-records.ts'
import type { LogRecord } from './record.ts'
import type { Hit, LogBatch, LogStore } from './store.ts'

/** Returns a record of pod web-0 in namespace shop, overridden by `given`. */
export function record(given: Partial<LogRecord> = {}): LogRecord {
  const { namespace = 'shop', pod = 'web-0', container = 'web' } = given
  return {
    timeNs: 1_589_644_842_000_000_000n,
    log: 'hello\n',
    namespace,
    pod,
    container,
    host: 'worker-1',
    dockerId: `${namespace}/${pod}/${container}`,
    ...given,
  }
}

export type MemoryStore = LogStore & {
  /** All records in order of arrival. */
  readonly records: readonly LogRecord[]
}

/** Creates the reference store for other stores: an array, of which it tests each record. */
export function createMemoryStore(initial: readonly LogRecord[] = []): MemoryStore {
  const hits: Hit[] = []
  const listeners = new Set<(arrived: readonly Hit[]) => void>()
  const add = (records: readonly LogRecord[]) => {
    const arrived = records.map((one, i) => ({ record: one, cursor: `c${hits.length + i}` }))
    hits.push(...arrived)
    for (const listener of listeners) listener(arrived)
  }
  add(initial)

  function find(filter: LogFilter, order: 'asc' | 'desc'): readonly Hit[] {
    const matches = createMatcher(filter)
    const found = hits.filter(hit => matches(hit.record))
    found.sort((a, b) => Number(a.record.timeNs - b.record.timeNs))
    return order === 'asc' ? found : found.reverse()
  }

  const append = async ({ records }: LogBatch) => {
    add(records)
    return { duplicate: false, rejected: [] }
  }

  return {
    get records() {
      return hits.map(hit => hit.record)
    },
    append,
    ingest: createIngestRecords(append, createTimeSlices()),
    async query({ filter, order, size, start, withTotal }) {
      const found = find(filter, order)
      let from = 'from' in start ? start.from : 0
      if ('after' in start) {
        const all = find({ scope: 'everything' }, order)
        const index = all.findIndex(({ cursor }) => cursor === start.after)
        if (index < 0) throw badRequest('no such cursor')
        const later = new Set(all.slice(index + 1))
        from = found.findIndex(hit => later.has(hit))
        if (from < 0) from = found.length
      }
      return {
        total: withTotal ? found.length : undefined,
        hits: found.slice(from, from + size),
        isCut: false,
      }
    },
    async statistics(filter) {
      const found = find(filter, 'asc')
      const containers = new Set(found.map(hit => hit.record.dockerId).filter(id => id !== ''))
      return { containers: containers.size, logs: found.length }
    },
    async histogram(filter, interval) {
      const found = find(filter, 'asc')
      const counts = new Map<number, number>()
      for (const hit of found) {
        const start = bucketStart(interval, Number(hit.record.timeNs / 1_000_000n))
        counts.set(start, (counts.get(start) ?? 0) + 1)
      }
      return { total: found.length, buckets: fillBuckets(interval, counts, 1000) }
    },
    async *follow(filter, signal) {
      const matches = createMatcher(filter)
      const waiting: Hit[][] = []
      let wake = () => {}
      const listener = (arrived: readonly Hit[]) => {
        waiting.push(arrived.filter(hit => matches(hit.record)))
        wake()
      }
      listeners.add(listener)
      signal.addEventListener('abort', () => wake(), { once: true })
      while (!signal.aborted) {
        const next = waiting.shift()
        if (next === undefined) {
          const { promise, resolve } = Promise.withResolvers<void>()
          wake = resolve
          await promise
        } else if (next.length > 0) {
          yield next
        }
      }
      listeners.delete(listener)
    },
    check: async () => undefined,
    close: async () => undefined,
  }
}

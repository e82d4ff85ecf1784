import { LRUCache } from 'lru-cache'
import type { LogRecord } from '../../record.ts'
import { createRuleFinder, type NamespaceRule, quotaBytesOf } from '../namespace-rules.ts'
import { dayMs } from '../partition/day.ts'
import type { QuotaCounters } from './quota-counters.ts'

// Limits memory. Clusters have fewer namespaces.
const countedNames = 100_000

/** Enforces the quotas of namespaces. Counts are part of the store's transaction. */
export type Quotas = {
  /** Counts a line. Returns the reason if the quota is exceeded. */
  readonly rejectionReason: (record: LogRecord, nowMs: number) => string | undefined
  /** Returns the reason for rejecting lines of a namespace. */
  readonly reasonOf: (namespace: string) => string
  /** Saves the counts, before the lines are committed. @throws Error of SQLite */
  readonly save: () => void
  readonly commit: () => void
  /** Discards what was counted since the last commit. */
  readonly rollback: () => void
  readonly close: () => void
}

/** Creates counters per namespace, which start at 0 each day (UTC). @param counters before */
export function createQuotas(rules: readonly NamespaceRule[], counters?: QuotaCounters): Quotas {
  const find = createRuleFinder(rules)
  const stored = new LRUCache<string, number>({ max: countedNames })
  const pending = new Map<string, number>()
  let today = 0
  const sum = (namespace: string) => (stored.get(namespace) ?? 0) + (pending.get(namespace) ?? 0)
  const reasonOf = (namespace: string) => {
    const megabytes = (find(namespace)?.quotaBytes ?? 0) / 1024 / 1024
    return `the quota of the namespace ${JSON.stringify(namespace)} (${megabytes} MiB a day, logs.embedded.namespaces) is used up; it begins again at 00:00 UTC`
  }
  return {
    reasonOf,
    rejectionReason(record, nowMs) {
      const { namespace } = record
      const quota = find(namespace)?.quotaBytes
      if (quota === undefined) return undefined
      const day = Math.floor(nowMs / dayMs)
      if (day !== today) {
        today = day
        stored.clear()
        pending.clear()
        for (const [name, bytes] of counters?.load(day) ?? []) stored.set(name, bytes)
      }
      const bytes = quotaBytesOf(record)
      if (sum(namespace) + bytes > quota) return reasonOf(namespace)
      pending.set(namespace, (pending.get(namespace) ?? 0) + bytes)
      return undefined
    },
    save: () => counters?.save(today, new Map([...pending.keys()].map(name => [name, sum(name)]))),
    commit() {
      for (const namespace of pending.keys()) stored.set(namespace, sum(namespace))
      pending.clear()
    },
    rollback: () => pending.clear(),
    close: () => counters?.close(),
  }
}

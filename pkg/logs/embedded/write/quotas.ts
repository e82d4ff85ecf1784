import { LRUCache } from 'lru-cache'
import type { LogRecord } from '../../record.ts'
import { createRuleFinder, type NamespaceRule, quotaBytesOf } from '../namespace-rules.ts'
import { dayMs } from '../partition/day.ts'

// Limits memory. Clusters have fewer namespaces.
const countedNames = 100_000

/** Enforces the quotas of namespaces. Counts are part of the store's transaction. */
export type Quotas = {
  /** Counts a line. Returns the reason if the quota is exceeded. */
  readonly refusalOf: (record: LogRecord, nowMs: number) => string | undefined
  /** Returns the reason for refusing lines of a namespace. */
  readonly reasonOf: (namespace: string) => string
  readonly commit: () => void
  /** Discards what was counted since the last commit. */
  readonly rollback: () => void
}

/** Creates counters per namespace, which start at 0 each day (UTC) and when the process starts. */
export function createQuotas(rules: readonly NamespaceRule[]): Quotas {
  const find = createRuleFinder(rules)
  const stored = new LRUCache<string, number>({ max: countedNames })
  const pending = new Map<string, number>()
  let today = 0
  const reasonOf = (namespace: string) => {
    const megabytes = (find(namespace)?.quotaBytes ?? 0) / 1024 / 1024
    return `the quota of the namespace ${JSON.stringify(namespace)} (${megabytes} MiB a day, logs.embedded.namespaces) is used up; it begins again at 00:00 UTC`
  }
  return {
    reasonOf,
    refusalOf(record, nowMs) {
      const { namespace } = record
      const quota = find(namespace)?.quotaBytes
      if (quota === undefined) return undefined
      const day = Math.floor(nowMs / dayMs)
      if (day !== today) {
        today = day
        stored.clear()
        pending.clear()
      }
      const bytes = quotaBytesOf(record)
      const before = pending.get(namespace) ?? 0
      if ((stored.get(namespace) ?? 0) + before + bytes > quota) {
        return reasonOf(namespace)
      }
      pending.set(namespace, before + bytes)
      return undefined
    },
    commit() {
      for (const [namespace, bytes] of pending) stored.set(namespace, (stored.get(namespace) ?? 0) + bytes)
      pending.clear()
    },
    rollback: () => pending.clear(),
  }
}

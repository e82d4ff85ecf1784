import { createRuleFinder, type NamespaceRule } from '../namespace-rules.ts'
import { dayMs } from '../partition/day.ts'
import { type PartitionId, parsePartitionId } from '../partition/partition-id.ts'

/** Finds partitions in which the retention of every namespace has passed. */
export type NamespaceExpiry = {
  /** Returns the partitions that may have expired and must be checked. */
  readonly candidates: (stored: readonly PartitionId[], nowMs: number) => readonly PartitionId[]
  /** Reports whether a partition has expired. @param findNamespace the first that passes a test */
  readonly isExpired: (
    id: PartitionId,
    findNamespace: (test: (namespace: string) => boolean) => string | undefined,
    nowMs: number,
  ) => boolean
}

export function createNamespaceExpiry(rules: readonly NamespaceRule[]): NamespaceExpiry {
  const ruleOf = createRuleFinder(rules)
  const daysOf = (namespace: string) => ruleOf(namespace)?.retentionDays ?? Number.POSITIVE_INFINITY
  const leastDays = Math.min(...rules.map(({ retentionDays: days }) => days ?? Number.POSITIVE_INFINITY))
  // Day of each partition's next check. A check finds a namespace that is kept until then, so most
  // files are opened only once.
  let lookFrom = new Map<PartitionId, number>()
  return {
    candidates(stored, nowMs) {
      if (leastDays === Number.POSITIVE_INFINITY) return []
      const today = dayOfMs(nowMs)
      lookFrom = new Map(stored.map(id => [id, lookFrom.get(id) ?? endOf(id, leastDays)]))
      return stored.filter(id => today >= (lookFrom.get(id) ?? 0))
    },
    isExpired(id, findNamespace, nowMs) {
      const today = dayOfMs(nowMs)
      // If the check throws, the partition is checked again tomorrow.
      lookFrom.set(id, today + 1)
      const kept = findNamespace(namespace => today < endOf(id, daysOf(namespace)))
      if (kept === undefined) return true
      lookFrom.set(id, endOf(id, daysOf(kept)))
      return false
    },
  }
}

/** Returns the first day on which the lines of a partition have expired. */
function endOf(id: PartitionId, days: number): number {
  return parsePartitionId(id).day + days
}

function dayOfMs(ms: number): number {
  return Math.floor(ms / dayMs)
}

import { createRuleFinder, type NamespaceRule } from '../namespace-rules.ts'
import { dayMs } from '../partition/day.ts'
import { type PartitionId, parsePartitionId } from '../partition/partition-id.ts'

/** Finds partitions of which all lines are of namespaces whose retention has passed. */
export type NamespaceExpiry = {
  /** Returns the partitions to look at, since they may have expired. */
  readonly candidates: (stored: readonly PartitionId[], nowMs: number) => readonly PartitionId[]
  /**
   * Looks at one.
   *
   * @param findNamespace the first namespace in it for which a test holds
   */
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
  // A partition never loses a namespace, so that most files are opened only once for this.
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
      // What fails is tried again tomorrow.
      lookFrom.set(id, today + 1)
      const kept = findNamespace(namespace => today < endOf(id, daysOf(namespace)))
      if (kept === undefined) return true
      lookFrom.set(id, endOf(id, daysOf(kept)))
      return false
    },
  }
}

/** The day on which lines of a partition are no longer kept. */
function endOf(id: PartitionId, days: number): number {
  return parsePartitionId(id).day + days
}

function dayOfMs(ms: number): number {
  return Math.floor(ms / dayMs)
}

import type { Entry } from './entry.ts'
import type { Compare } from './sorted-index.ts'

/** Sort keys of the platform API (`sortBy`) that every kind has. */
export const sortKeys = ['name', 'createTime', 'creationTimestamp'] as const
export type SortKey = (typeof sortKeys)[number]

/** The order of keys, which is the orchestrator's own: namespace, then name. */
export const byKey: Compare = (a, b) => compareText(a.key, b.key)

/** Ties are broken by namespace, then name, so that every order is total and stable. */
export function toOrder(sortBy: SortKey): Compare {
  if (sortBy === 'name') return (a, b) => compareText(a.name, b.name) || byKey(a, b)
  // RFC 3339 in UTC with whole seconds sorts as text.
  return (a, b) => compareText(created(a), created(b)) || byKey(a, b)
}

function created(entry: Entry): string {
  return entry.meta.creationTimestamp
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

import type { Expression } from '../filter/expression.ts'
import type { LogFilter } from '../filter/filter.ts'
import type { LogStore, QueryLimits } from '../store.ts'

/** The query parameters of a kind of events, and their meaning in the store. */
export type EventKind = {
  /** The parameters that select namespaces by name, and by substrings of their names. */
  readonly namespaces: string
  readonly namespaceParts: string
  /** Conditions by parameter; each has at least one value, one of which must match. */
  readonly filters: Readonly<Record<string, (values: readonly string[]) => Expression>>
  /** The field whose distinct values `statistics` counts. */
  readonly count: (store: LogStore, filter: LogFilter, limits: QueryLimits) => Promise<EventStatistics>
}

export type EventStatistics = { readonly resources: number; readonly events: number }

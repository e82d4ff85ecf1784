import type { Expression } from '../filter/expression.ts'
import type { LogFilter } from '../filter/filter.ts'
import type { LogStore, QueryLimits } from '../store.ts'

/** The query parameters of a kind of events, and their conditions in the store. */
export type EventKind = {
  /** Names of the parameters that select namespaces: by name, and by a substring of the name. */
  readonly namespaces: string
  readonly namespaceParts: string
  /** Conditions by parameter name, each with one value or more, of which one must match. */
  readonly filters: Readonly<Record<string, (values: readonly string[]) => Expression>>
  /** Counts the matching events, and the objects or requests to which they refer. */
  readonly count: (store: LogStore, filter: LogFilter, limits: QueryLimits) => Promise<EventStatistics>
}

export type EventStatistics = { readonly resources: number; readonly events: number }

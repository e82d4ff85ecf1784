import type { Expression } from '../expression.ts'
import type { LogFilter } from '../filter.ts'
import type { LogStore, QueryLimits } from '../store.ts'

/** Which parameters one kind of events is asked with, and what they mean in its store. */
export type EventKind = {
  /** The parameters with exact names and with parts of names of namespaces. */
  readonly namespaces: string
  readonly namespaceParts: string
  /** By parameter; each is given one value at least, and one of them has to fit. */
  readonly filters: Readonly<Record<string, (values: readonly string[]) => Expression>>
  /** What `statistics` tells of all that pass. */
  readonly count: (store: LogStore, filter: LogFilter, limits: QueryLimits) => Promise<EventStatistics>
}

export type EventStatistics = { readonly resources: number; readonly events: number }

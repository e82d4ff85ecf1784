import { timedOut } from '../../status/status.ts'
import { exportHits } from '../export.ts'
import type { Expression } from '../expression.ts'
import type { LogFilter } from '../filter.ts'
import type { LogStore, QueryLimits } from '../store.ts'
import { firstValue } from './entry.ts'

/** Which parameters one kind of events is asked with, and what they mean in its store. */
export type EventKind = {
  /** The parameters with exact names and with parts of names of namespaces. */
  readonly namespaces: string
  readonly namespaceParts: string
  /** By parameter; each is given one value at least, and one of them has to fit. */
  readonly filters: Readonly<Record<string, (values: readonly string[]) => Expression>>
  /** What `statistics` calls resources. */
  readonly countResources: (store: LogStore, filter: LogFilter, limits: QueryLimits) => Promise<number>
}

/** How many values a name has among all entries that pass: they are gone through, for events are few beside lines. */
export async function countDistinct(
  store: LogStore,
  { filter, name }: { readonly filter: LogFilter; readonly name: string },
  limits: QueryLimits,
): Promise<number> {
  const values = new Set<string>()
  const until = performance.now() + limits.timeoutMs
  const all = { filter, order: 'desc', limit: Number.POSITIVE_INFINITY } as const
  for await (const hits of exportHits(store, all, limits)) {
    for (const { record } of hits) values.add(firstValue(record.log, name) ?? '')
    if (performance.now() > until) throw timedOut('the events are too many to be counted in time')
  }
  values.delete('')
  return values.size
}

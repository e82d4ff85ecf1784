import type { ServerResponse } from 'node:http'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { LogStore } from '../../logs/store.ts'

/** A reserved slot; `leave` releases it. */
export type Slot = { readonly leave: () => void }

/** Concurrency limits of the log store, with a share for each user. */
export type LogConcurrency = {
  /** Reserves a slot for a search, or waits. @throws Status 429, also through the promise */
  readonly search: (user: string, res: ServerResponse) => Slot | Promise<Slot>
  /** Reserves a slot for a live tail. @throws Status 429 */
  readonly tail: (user: string) => Slot
}

/** Wraps the store for a caller: a search has a slot, except while its client reads. */
export function withConcurrencyLimits(
  store: LogStore,
  concurrency: LogConcurrency,
  { identity, res }: AuthenticatedExchange,
): LogStore {
  async function withSlot<T>(search: () => Promise<T>): Promise<T> {
    const slot = await concurrency.search(identity.username, res)
    try {
      return await search()
    } finally {
      slot.leave()
    }
  }
  const { rows, origins } = store
  return {
    ...store,
    ...(rows && { rows: (query, limits) => withSlot(() => rows(query, limits)) }),
    ...(origins && { origins: (filter, limits) => withSlot(() => origins(filter, limits)) }),
    query: (query, limits) => withSlot(() => store.query(query, limits)),
    statistics: (filter, limits) => withSlot(() => store.statistics(filter, limits)),
    histogram: (filter, interval, limits) => withSlot(() => store.histogram(filter, interval, limits)),
  }
}

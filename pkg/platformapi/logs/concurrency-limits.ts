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
  places: LogConcurrency,
  { identity, res }: AuthenticatedExchange,
): LogStore {
  async function inPlace<T>(search: () => Promise<T>): Promise<T> {
    const place = await places.search(identity.username, res)
    try {
      return await search()
    } finally {
      place.leave()
    }
  }
  const { rows, origins } = store
  return {
    ...store,
    ...(rows && { rows: (query, limits) => inPlace(() => rows(query, limits)) }),
    ...(origins && { origins: (filter, limits) => inPlace(() => origins(filter, limits)) }),
    query: (query, limits) => inPlace(() => store.query(query, limits)),
    statistics: (filter, limits) => inPlace(() => store.statistics(filter, limits)),
    histogram: (filter, interval, limits) => inPlace(() => store.histogram(filter, interval, limits)),
  }
}

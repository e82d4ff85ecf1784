import type { ServerResponse } from 'node:http'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { LogStore } from '../../logs/store.ts'

/** A place that was taken. */
export type Place = { readonly leave: () => void }

/** Places at the log store, of which each user has a share. */
export type LogPlaces = {
  /** For one search; it waits for a while when there is none. @throws Status 429, also by the promise */
  readonly search: (user: string, res: ServerResponse) => Place | Promise<Place>
  /** For a live tail. @throws Status 429 */
  readonly tail: (user: string) => Place
}

/** The store as a caller may use it: each of its searches takes a place, and none is held while a client reads. */
export function withPlaces(
  store: LogStore,
  places: LogPlaces,
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
  return {
    ...store,
    query: (query, limits) => inPlace(() => store.query(query, limits)),
    statistics: (filter, limits) => inPlace(() => store.statistics(filter, limits)),
    histogram: (filter, interval, limits) => inPlace(() => store.histogram(filter, interval, limits)),
  }
}

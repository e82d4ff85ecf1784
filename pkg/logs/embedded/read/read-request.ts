import type { LogFilter } from '../../filter/filter.ts'
import type { Interval } from '../../histogram-interval.ts'
import type { LogQuery, RowQuery } from '../../store.ts'
import type { ArrivalPositions } from './search-arrivals.ts'

export type ReaderSettings = {
  /** Folders by the name of the store. */
  readonly folders: Readonly<Record<string, string>>
  /** Total size of the caches. */
  readonly cacheBytes: number
  /** Number of lines that are searched together. Set only by tests. */
  readonly windowLines?: number
}

export type ReadRequest = ReaderQuery & { readonly store: string; readonly timeoutMs: number }

/** A query of the reader process, with its parameters. */
export type ReaderQuery =
  | { readonly kind: 'query'; readonly query: LogQuery }
  | { readonly kind: 'rows'; readonly query: RowQuery }
  | { readonly kind: 'origins' | 'statistics'; readonly filter: LogFilter }
  | { readonly kind: 'histogram'; readonly filter: LogFilter; readonly interval: Interval }
  | { readonly kind: 'arrivals'; readonly filter: LogFilter; readonly ranges: ArrivalPositions }

/** Cancels the request with ID `of`, which then gets no response. */
export type CancelRequest = { readonly kind: 'cancel'; readonly of: number }

export type ReaderNotice = { readonly store: string; readonly partition: string; readonly damage: string }

import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import type { RecordSelection } from '../../logs/query/log-query.ts'
import type { ReadableNamespaces } from '../../logs/query/scope.ts'
import type { LogStore, QueryLimits } from '../../logs/store.ts'
import { type LogConcurrency, withConcurrencyLimits } from './concurrency-limits.ts'
import { type Follow, sendFollow } from './follow.ts'
import { createFilterNow, withPermissionChecks } from './permission-checks.ts'

/** What the APIs of logs and events have in common. */
export type CallerViewOptions = {
  readonly store: LogStore
  readonly concurrency: LogConcurrency
  /** Returns the scope in which the caller may read. @throws Status 503 */
  readonly readable: (identity: Identity) => Promise<ReadableNamespaces>
  /** Returns the creation times of all namespaces, in Unix seconds. @throws Status 503 */
  readonly created: () => ReadonlyMap<string, number>
  /** Returns the time limit of a query, and the maximum of records of an export (0: none). */
  readonly limits: () => { readonly queryTimeoutSeconds: number; readonly exportLimit: number }
  /** Interval at which searches of one request check its permission. Set only by tests. */
  readonly permissionEveryMs?: number
}

/** The store as the caller of a request may read it. */
export type CallerView = {
  /** The filter of the caller's scope; undefined without access to any record. */
  readonly filter: LogFilter | undefined
  /** The store with concurrency limits. */
  readonly limited: LogStore
  /** Returns this store with searches that check the permission of the caller. */
  readonly checked: () => LogStore
  /** Sends a live tail, which checks the permission itself. @throws Status 429 */
  readonly follow: (request: Omit<Follow, 'isPermitted'>, closing: AbortSignal) => Promise<void>
  readonly limits: QueryLimits & { readonly signal: AbortSignal }
  readonly exportLimit: number
}

/** @param left aborts when the client has disconnected */
export async function openCallerView(
  exchange: AuthenticatedExchange,
  where: RecordSelection,
  left: AbortSignal,
  options: CallerViewOptions,
): Promise<CallerView> {
  const { store, concurrency, permissionEveryMs } = options
  const { queryTimeoutSeconds, exportLimit } = options.limits()
  const filterNow = createFilterNow(where, exchange.identity, options)
  const filter = await filterNow()
  const limited = withConcurrencyLimits(store, concurrency, exchange)
  const limits = { timeoutMs: queryTimeoutSeconds * 1_000, signal: left }
  return {
    ...{ filter, limited, limits },
    checked: () => withPermissionChecks(limited, exchange, filter, filterNow, permissionEveryMs),
    follow(request, closing) {
      const tail = concurrency.tail(exchange.identity.username)
      const isPermitted = async () => hasSameScope(await filterNow(), filter)
      const signal = AbortSignal.any([closing, left])
      return sendFollow(limited, exchange, { ...request, isPermitted }, { ...limits, signal }).finally(
        tail.leave,
      )
    },
    exportLimit: exportLimit || Number.POSITIVE_INFINITY,
  }
}

function hasSameScope(a: LogFilter | undefined, b: LogFilter | undefined): boolean {
  if (a === b) return true
  const text = (filter: LogFilter | undefined) =>
    JSON.stringify(filter?.scope ?? null, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  return text(a) === text(b)
}

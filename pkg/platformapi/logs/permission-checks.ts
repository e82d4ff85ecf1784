import { Status } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import type { RecordSelection } from '../../logs/query/log-query.ts'
import { type ReadableNamespaces, toFilter } from '../../logs/query/scope.ts'
import type { LogStore } from '../../logs/store.ts'
import { watchPermission } from './permission-watch.ts'

// As often as a live tail checks its permission.
const defaultEveryMs = 1_000
// How long a filter is used while the readable namespaces are the same. Times of creation may change.
const filterMs = 30_000

type ScopeOptions = {
  readonly readable: (identity: Identity) => Promise<ReadableNamespaces>
  readonly created: () => ReadonlyMap<string, number>
}

/**
 * Returns a function that returns the filter that a new request of the caller would have; undefined
 * for no access. Cheap while `readable` returns the same object, so that it can be called often.
 */
export function createFilterNow(
  where: RecordSelection,
  identity: Identity,
  { readable, created }: ScopeOptions,
): () => Promise<LogFilter | undefined> {
  let last:
    | { readonly names: ReadableNamespaces; readonly at: number; readonly filter: LogFilter | undefined }
    | undefined
  return async () => {
    const names = await readable(identity)
    const now = performance.now()
    if (last?.names !== names || now >= last.at + filterMs)
      last = { names, at: now, filter: toFilter(where, names, created) }
    return last.filter
  }
}

/**
 * Wraps the store for a request that may read for hours, such as an export: checks whether the
 * caller may still read what the request began with. After that, its searches fail with 403, and a
 * response that has begun is aborted, also while a slow client reads it.
 *
 * @param filterNow returns the filter that a new request would have; undefined for no access
 */
export function withPermissionChecks(
  store: LogStore,
  { res }: Pick<AuthenticatedExchange, 'res'>,
  begun: LogFilter | undefined,
  filterNow: () => Promise<LogFilter | undefined>,
  everyMs = defaultEveryMs,
): LogStore {
  const isPermitted = async () => includes(await filterNow(), begun)
  let checkedAt = performance.now()
  async function checked<T>(search: () => Promise<T>): Promise<T> {
    if (performance.now() - checkedAt >= everyMs) {
      if (!(await isPermitted()))
        throw new Status(403, 'Forbidden', 'the permission to read these logs was revoked')
      checkedAt = performance.now()
    }
    return search()
  }
  if (!res.destroyed) {
    const abort = () => void (res.headersSent && res.destroy())
    res.once('close', watchPermission(isPermitted, abort, { permissionEveryMs: everyMs }).stop)
  }
  const { rows } = store
  return {
    ...store,
    ...(rows && { rows: (query, limits) => checked(() => rows(query, limits)) }),
    query: (query, limits) => checked(() => store.query(query, limits)),
  }
}

/** Reports whether the scope of a filter includes that of another. It may include more. */
function includes(filter: LogFilter | undefined, other: LogFilter | undefined): boolean {
  if (other === undefined || filter === other || filter?.scope === 'everything') return true
  if (filter === undefined || other.scope === 'everything') return false
  const since = new Map(filter.scope.map(({ namespace, sinceNs }) => [namespace, sinceNs]))
  return other.scope.every(({ namespace, sinceNs }) => {
    const now = since.get(namespace)
    return now !== undefined && now <= sinceNs
  })
}

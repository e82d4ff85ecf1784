import { Status } from '../../apierrors/status.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import type { LogStore } from '../../logs/store.ts'

// As often as a live tail checks its permission.
const defaultEveryMs = 30_000

/**
 * Wraps the store for a request that may read for hours, such as an export: before a search, checks
 * whether the caller may still read what the request began with. Its searches then fail with 403,
 * which aborts a response that has begun.
 *
 * @param filterNow returns the filter that a new request would have; undefined for no access
 */
export function withPermissionChecks(
  store: LogStore,
  begun: LogFilter | undefined,
  filterNow: () => Promise<LogFilter | undefined>,
  everyMs = defaultEveryMs,
): LogStore {
  let checkedAt = performance.now()
  async function checked<T>(search: () => Promise<T>): Promise<T> {
    if (performance.now() - checkedAt >= everyMs) {
      if (!includes(await filterNow(), begun))
        throw new Status(403, 'Forbidden', 'the permission to read these logs was revoked')
      checkedAt = performance.now()
    }
    return search()
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
  if (other === undefined || filter?.scope === 'everything') return true
  if (filter === undefined || other.scope === 'everything') return false
  const since = new Map(filter.scope.map(({ namespace, sinceNs }) => [namespace, sinceNs]))
  return other.scope.every(({ namespace, sinceNs }) => {
    const now = since.get(namespace)
    return now !== undefined && now <= sinceNs
  })
}

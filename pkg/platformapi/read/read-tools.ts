import type { ListQuery } from '../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import type { PageCache } from '../../resourcecache/list/page-cache.ts'
import type { PrinterColumn } from '../../resourcecache/list/printer-columns.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { UserTimeSlices } from '../../scheduling/time-slices.ts'
import type { OwnerTools } from '../subrequests/owners.ts'

export type ReadTools = {
  readonly groupDomain: string
  readonly pages: PageCache
  readonly broadcaster: WatchBroadcaster
  /** Time slices for all long-running work on lists. */
  readonly timeSlices: UserTimeSlices
  /** Returns whether a read without resourceVersion is consistent, not as fresh as the watch. */
  readonly isConsistent: (info: RequestInfo) => boolean
  /** Finds the intermediate owners for `seniority`. */
  readonly owners: OwnerTools
  /** Returns the columns of the kind's CustomResourceDefinition. @throws Status 503 */
  readonly printerColumns: (kind: Kind) => Promise<readonly PrinterColumn[] | undefined>
  /** Returns the objects that the caller of a narrowed list may see; otherwise undefined. */
  readonly narrowed: (exchange: AuthenticatedExchange) => ObjectVisibility | undefined
}

export type ReadStyle = {
  /**
   * Format of a list: `{items, totalItems}` as in KubeSphere, a JSON array as in a few paths of
   * KubeSphere, or a `<Kind>List` as in Kubernetes.
   */
  readonly list: 'items' | 'array' | 'kind'
  /** Returns additional restrictions, which the query does not contain. */
  readonly narrow?: (
    query: ListQuery,
  ) => Promise<{ query: ListQuery; narrowing: ListRestriction }> | undefined
  readonly visible?: ObjectVisibility | undefined
  /** The restriction of this path, which applies to every caller. */
  readonly only?: ListRestriction | undefined
  /** The projection of objects; by default they are returned unchanged. */
  readonly form?: Form
}

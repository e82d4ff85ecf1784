import type { ListQuery } from '../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import type { Visible } from '../../resourcecache/list/object-visibility.ts'
import type { PageCache } from '../../resourcecache/list/page-cache.ts'
import type { PrinterColumn } from '../../resourcecache/list/printer-columns.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { UserTimeSlices } from '../../scheduling/time-slices.ts'
import type { OwnerTools } from '../subrequests/owners.ts'

export type ReadTools = {
  readonly groupDomain: string
  readonly pages: PageCache
  readonly broadcaster: WatchBroadcaster
  /** Time slices shared by all long work for lists. */
  readonly timeSlices: UserTimeSlices
  /** Whether a read without a version is consistent; otherwise it is as fresh as the watch. */
  readonly isConsistent: (info: RequestInfo) => boolean
  /** Finds the owners in between, for `seniority`. */
  readonly owners: OwnerTools
  /** The columns that a CustomResourceDefinition gives its kind. @throws Status 503 */
  readonly printerColumns: (kind: Kind) => Promise<readonly PrinterColumn[] | undefined>
  /** What the caller of a narrowed list may see; undefined for all other requests. */
  readonly narrowed: (exchange: AuthenticatedExchange) => Visible | undefined
}

export type ReadStyle = {
  /** `{items, totalItems}` as the platform's own lists, or a `<Kind>List` as Kubernetes'. */
  readonly list: 'items' | 'kind'
  /** Additional restrictions that are not in the query. */
  readonly narrow?: (
    query: ListQuery,
  ) => Promise<{ query: ListQuery; narrowing: ListRestriction }> | undefined
  /** The visible objects, if the caller may not see all. */
  readonly visible?: Visible | undefined
  /** The predicate of this path, for every caller. */
  readonly only?: ListRestriction | undefined
  /** The projection of objects, if they are not returned unchanged. */
  readonly form?: Form
}

import { HookedResponse } from '../../httpserver/hooked-message.ts'
import type { ListRequest } from '../../resourcecache/list/list.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import type { Visible } from '../../resourcecache/list/object-visibility.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'

/** The objects that a list selects for its caller, in a state that is as recent as requested. */
export type CollectedList = {
  readonly store: ObjectStore
  readonly request: ListRequest
  readonly visible: Visible | undefined
  readonly form: Form
}

/** The response of a list whose objects another request shows: it takes the list, and no bytes. */
export class ListCollector extends HookedResponse {
  collected: CollectedList | undefined
}

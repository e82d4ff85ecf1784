import { HookedResponse } from '../../httpserver/hooked-message.ts'
import type { ListRequest } from '../../resourcecache/list/list.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'

/** The selection of a list for its caller, and the store at the requested resourceVersion. */
export type CollectedList = {
  readonly store: ObjectStore
  readonly request: ListRequest
  readonly visible: ObjectVisibility | undefined
  readonly form: Form
}

/** The response of a list that is a part of another request: collects the list only. */
export class ListCollector extends HookedResponse {
  collected: CollectedList | undefined
}

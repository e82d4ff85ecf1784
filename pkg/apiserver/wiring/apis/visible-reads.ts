import type { FindVisible } from '../../../authz/visibility/visibility.ts'
import { readCollection } from '../../../platformapi/read/read-collection.ts'
import type { ReadTools } from '../../../platformapi/read/read-tools.ts'
import type { WorkspaceTools } from '../../../platformapi/workspaces/dependencies.ts'
import { waitForLatest } from '../../../resourcecache/informer/wait-for-resource-version.ts'
import type { ObjectStore } from '../../../resourcecache/store/store.ts'

/** Reads of namespaces and workspaces, of which each caller may see only some. */
export type VisibleReads = Pick<WorkspaceTools, 'read' | 'isVisible'> & { readonly visible: FindVisible }

export function createVisibleReads(parts: {
  readonly visible: FindVisible
  readonly tools: ReadTools
  readonly storeOf: (plural: string) => Promise<ObjectStore>
}): VisibleReads {
  const { visible, tools, storeOf } = parts
  return {
    visible,
    async read(exchange, how) {
      const visibility = await visible(exchange.info, exchange.identity)
      const style = { list: 'items', visible: visibility, ...how } as const
      await readCollection(await storeOf(exchange.info.resource), tools, exchange, style)
    },
    async isVisible({ info, identity }, only) {
      const store = await storeOf(info.resource)
      await waitForLatest(store, { namespace: '', name: info.name })
      const visibility = await visible(info, identity)
      const entry = store.get('', info.name)
      return entry !== undefined && visibility?.has(entry) !== false && only?.matches(entry) !== false
    },
  }
}

import type { KubeClient } from '../../kubeclient/client.ts'
import { readListPage } from '../../kubeclient/list/list-page.ts'
import { isRecord, itemsOf, type KubeObject, membersOf, textOf } from '../../kubeclient/object/object.ts'
import type { ServedKind } from '../store/cached-object.ts'
import { ObjectStore } from '../store/store.ts'
import { explainRefusal } from './list-error.ts'

const pageSize = 500
const pageMs = 30_000

/**
 * Lists the objects of a kind that cannot be watched, for a single request and without caching.
 *
 * @throws Status 404 for an unknown kind, 503
 */
export async function listUncached(client: KubeClient, served: ServedKind): Promise<ObjectStore> {
  const store = new ObjectStore(served)
  const items: KubeObject[] = []
  const sources: string[] = []
  let token = ''
  do {
    const query = new URLSearchParams({
      limit: String(pageSize),
      ...(token === '' ? {} : { continue: token }),
    })
    const call = { path: `${served.kind.source.path}?${query}`, timeoutMs: pageMs }
    const page = await readListPage(client, call).catch((error: unknown) => {
      throw explainRefusal(served.kind.plural, error)
    })
    const list = membersOf(page.list)
    for (const [i, item] of itemsOf(list.items).entries()) {
      if (!isListed(item)) continue
      items.push(item)
      sources.push(page.sources[i] ?? '')
    }
    token = textOf(membersOf(list.metadata).continue)
  } while (token !== '')
  store.replace(items, '0', sources)
  // Ends waits for a resource version immediately, since no events will arrive.
  store.end()
  return store
}

/**
 * Returns whether an item can be listed. Objects that are computed for each list have no resource
 * version, uid or creation time.
 */
function isListed(item: unknown): item is KubeObject {
  return isRecord(item) && isRecord(item.metadata) && typeof item.metadata.name === 'string'
}

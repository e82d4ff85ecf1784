import type { KubeClient } from '../../kubeclient/client.ts'
import { readListPage } from '../../kubeclient/list/list-page.ts'
import { fieldsOf, isRecord, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import type { ServedKind } from '../store/cached-object.ts'
import { ObjectStore } from '../store/store.ts'
import { explainForbidden } from './list-error.ts'

const pageSize = 500
const pageMs = 30_000

/** Lists objects that cannot be watched, for one request. @throws Status 404, 503 */
export async function listUncached(client: KubeClient, served: ServedKind): Promise<ObjectStore> {
  const items: unknown[] = []
  const sources: string[] = []
  let token = ''
  do {
    const query = new URLSearchParams({
      limit: String(pageSize),
      ...(token === '' ? {} : { continue: token }),
    })
    const call = { path: `${served.kind.source.path}?${query}`, timeoutMs: pageMs }
    const page = await readListPage(client, call).catch((error: unknown) => {
      throw explainForbidden(served.kind.plural, error)
    })
    const list = fieldsOf(page.list)
    items.push(...itemsOf(list.items))
    sources.push(...page.sources)
    token = textOf(fieldsOf(list.metadata).continue)
  } while (token !== '')
  return toUncachedStore(served, items, sources)
}

/**
 * Returns a store of the items of a list that is used for a single request. Items that are not
 * objects are skipped.
 *
 * @param sources the JSON text of each item
 */
export function toUncachedStore(
  served: ServedKind,
  items: readonly unknown[],
  sources: readonly string[],
): ObjectStore {
  const store = new ObjectStore(served)
  const listed = items.flatMap((item, i) => (isListed(item) ? [{ item, source: sources[i] ?? '' }] : []))
  store.replace(
    listed.map(({ item }) => item),
    '0',
    listed.map(({ source }) => source),
  )
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

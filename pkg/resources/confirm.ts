import type { VersionPage } from '../kube/version-page.ts'
import { tooLargeResourceVersion } from '../status/status.ts'
import type { Collection, Confirm, Scope } from './collection.ts'
import { toKey } from './entry.ts'
import { explainRefusal } from './explain-refusal.ts'
import { SharedCalls } from './shared-calls.ts'

/** Consistent reads of kube-apiserver. */
export type VersionReader = {
  /** @throws Status */
  readonly page: (call: { readonly path: string }) => Promise<VersionPage>
  /** The resource version of an object, undefined when there is none. @throws Status */
  readonly object: (call: { readonly path: string }) => Promise<string | undefined>
}

// As kube-apiserver waits for its watch cache.
const waitMs = 3_000
/** In which the events of a kind that changes all the time arrive, so that its objects need not be listed. */
export const momentMs = 25
const pageSize = 1_000

/**
 * Confirms a collection by a list of names and resource versions (docs/adr/0016-consistent-reads.md). The version of the list is the
 * revision of etcd, which moves with every write of every kind: the watch of a kind in which nothing happens does not arrive at it
 * before the next bookmark, up to a minute later. So the collection is compared with the list, too.
 *
 * @returns calls for one scope that wait together share one list
 */
export function createConfirm(collection: Collection, reader: VersionReader): Confirm {
  const { kind } = collection.served
  const calls = new SharedCalls<void>()
  const refuse = (error: unknown) => {
    throw explainRefusal(kind.plural, error)
  }

  async function read(scope: Scope, limit: number, token: string): Promise<VersionPage> {
    const query = new URLSearchParams({ limit: String(limit) })
    if (token !== '') query.set('continue', token)
    if (scope.name !== '') query.set('fieldSelector', `metadata.name=${escapeValue(scope.name)}`)
    const path = `${collectionPath(kind.source.path, scope.namespace)}?${query}`
    return reader.page({ path }).catch(refuse)
  }

  async function confirmList(scope: Scope): Promise<void> {
    // A large kind is listed only when its watch is not at the version of the list in a moment.
    let page = await read(scope, isAll(scope) && collection.size > pageSize ? 1 : pageSize, '')
    const version = Number(page.version)
    const deadlineMs = performance.now() + waitMs
    const listed = new Map<string, number>()
    const add = ({ items }: VersionPage) => {
      for (const { namespace, name, resourceVersion } of items)
        listed.set(toKey(namespace, name), Number(resourceVersion))
    }
    add(page)
    if (page.continueToken !== '') await collection.waitFor(version, momentMs)
    while (page.continueToken !== '' && collection.version < version) {
      page = await read(scope, pageSize, page.continueToken)
      add(page)
    }
    while (collection.version < version && !isSame(collection, scope, listed)) {
      if (await collection.waitFor(collection.version + 1, deadlineMs - performance.now())) continue
      throw tooLargeResourceVersion(String(version), String(collection.version))
    }
    if (isAll(scope) && version > collection.version) collection.advance(version)
  }

  /** A get waits for nothing at kube-apiserver, where a list waits for progress from etcd. */
  async function confirmObject(scope: Scope): Promise<void> {
    const path = `${collectionPath(kind.source.path, scope.namespace)}/${encodeURIComponent(scope.name)}`
    const version = await reader.object({ path }).catch(refuse)
    if (version !== undefined) {
      if (await collection.waitFor(Number(version), waitMs)) return
      throw tooLargeResourceVersion(version, String(collection.version))
    }
    // One that was deleted, or that came after: only a list has a version that says which.
    if (collection.get(scope.namespace, scope.name) !== undefined) await confirmList(scope)
  }

  const confirm = (scope: Scope) => (scope.name === '' ? confirmList(scope) : confirmObject(scope))
  return scope => calls.run(toKey(scope.namespace, scope.name), () => confirm(scope))
}

function isAll({ namespace, name }: Scope): boolean {
  return namespace === '' && name === ''
}

/** Whether the objects of the scope are those of the list, by name and version. */
function isSame(collection: Collection, scope: Scope, listed: ReadonlyMap<string, number>): boolean {
  if (scope.name !== '') {
    const { namespace, name } = scope
    return collection.get(namespace, name)?.version === listed.get(toKey(namespace, name))
  }
  let count = 0
  for (const { namespace, key, version } of collection.entries()) {
    if (scope.namespace !== '' && namespace !== scope.namespace) continue
    if (listed.get(key) !== version) return false
    count++
  }
  return count === listed.size
}

function collectionPath(path: string, namespace: string): string {
  if (namespace === '') return path
  const at = path.lastIndexOf('/')
  return `${path.slice(0, at)}/namespaces/${encodeURIComponent(namespace)}${path.slice(at)}`
}

/** A value in a field selector (EscapeValue of apimachinery's fields). */
function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

import { tooLargeResourceVersion } from '../../apierrors/status.ts'
import { isPathSegment } from '../../apirequest/request-info.ts'
import type { ObjectVersion, VersionPage } from '../../kubeclient/list/list-versions.ts'
import { explainForbidden } from '../list/list-error.ts'
import { toKey } from '../store/cached-object.ts'
import type { Confirm, ObjectStore, Scope } from '../store/store.ts'
import { SharedCalls } from './shared-calls.ts'

/** Reads from kube-apiserver that are consistent with etcd. */
export type VersionReader = {
  /** @throws Status */
  readonly page: (call: { readonly path: string }) => Promise<VersionPage>
  /** Returns the resource version of an object; undefined if it does not exist. @throws Status */
  readonly object: (call: { readonly path: string }) => Promise<string | undefined>
}

// The same timeout as the watch cache of kube-apiserver.
const waitMs = 3_000
/**
 * Time within which the watch of a frequently changing kind usually reaches a version by itself, so
 * that no comparison is needed.
 */
export const momentMs = 25
const pageSize = 1_000

/**
 * Confirms that a store is current by comparing it with a list of names and resource versions
 * (docs/adr/0016-consistent-reads.md). The version of the list is the etcd revision, which grows
 * with every write of any kind. The watch of an idle kind reaches it only with the next bookmark,
 * up to a minute later, so waiting for that version alone is not sufficient.
 *
 * @returns a function whose concurrent calls for a scope share one list
 */
export function createConfirm(store: ObjectStore, reader: VersionReader): Confirm {
  const { kind } = store.served
  const calls = new SharedCalls<void>()
  const refuse = (error: unknown) => {
    throw explainForbidden(kind.plural, error)
  }

  async function read(scope: Scope, limit: number, token: string): Promise<VersionPage> {
    const query = new URLSearchParams({ limit: String(limit) })
    if (token !== '') query.set('continue', token)
    if (scope.name !== '') query.set('fieldSelector', `metadata.name=${escapeValue(scope.name)}`)
    const path = `${collectionPath(kind.source.path, scope.namespace)}?${query}`
    return reader.page({ path }).catch(refuse)
  }

  async function confirmList(scope: Scope): Promise<void> {
    // A large kind is only listed completely if its watch does not soon reach the list.
    let page = await read(scope, isAll(scope) && store.size > pageSize ? 1 : pageSize, '')
    const version = Number(page.version)
    const deadlineMs = performance.now() + waitMs
    const listed = new Map<string, ObjectVersion>()
    const add = ({ items }: VersionPage) => {
      for (const item of items) listed.set(toKey(item.namespace, item.name), item)
    }
    add(page)
    if (page.continueToken !== '') await store.waitFor(version, momentMs)
    while (page.continueToken !== '' && store.version < version) {
      page = await read(scope, pageSize, page.continueToken)
      add(page)
    }
    let different = findDifference(store, scope, listed)
    while (store.version < version && different !== undefined) {
      if (!(await store.waitFor(store.version + 1, deadlineMs - performance.now())))
        throw tooLargeResourceVersion(String(version), String(store.version))
      // All objects are compared only if this one matches: a large kind may keep changing.
      if (isAsListed(store, different, listed)) different = findDifference(store, scope, listed)
    }
    if (isAll(scope) && version > store.version) store.advance(version)
  }

  /** Compares a single object by a get; a list would wait for progress from etcd. */
  async function confirmObject(scope: Scope): Promise<void> {
    // No object has such a name, and kube-apiserver responds with 400.
    if (!isPathSegment(scope.name)) return
    const path = `${collectionPath(kind.source.path, scope.namespace)}/${encodeURIComponent(scope.name)}`
    const version = await reader.object({ path }).catch(refuse)
    if (version !== undefined) {
      if (await store.waitFor(Number(version), waitMs)) return
      throw tooLargeResourceVersion(version, String(store.version))
    }
    // kube-apiserver does not have the object; a list shows whether the store is newer.
    if (store.get(scope.namespace, scope.name) !== undefined) await confirmList(scope)
  }

  const confirm = (scope: Scope) => (scope.name === '' ? confirmList(scope) : confirmObject(scope))
  return scope => calls.run(toKey(scope.namespace, scope.name), () => confirm(scope))
}

function isAll({ namespace, name }: Scope): boolean {
  return namespace === '' && name === ''
}

type ObjectName = Pick<ObjectVersion, 'namespace' | 'name'>
type ListedVersions = ReadonlyMap<string, ObjectVersion>

/**
 * Returns an object of the scope whose version differs from the list, or that is missing on one
 * side; undefined if there is none.
 */
function findDifference(store: ObjectStore, scope: Scope, listed: ListedVersions): ObjectName | undefined {
  if (scope.name !== '') return isAsListed(store, scope, listed) ? undefined : scope
  let count = 0
  for (const entry of store.entries()) {
    if (scope.namespace !== '' && entry.namespace !== scope.namespace) continue
    if (Number(listed.get(entry.key)?.resourceVersion) !== entry.version) return entry
    count++
  }
  if (count === listed.size) return undefined
  return [...listed.values()].find(({ namespace, name }) => store.get(namespace, name) === undefined)
}

function isAsListed(store: ObjectStore, { namespace, name }: ObjectName, listed: ListedVersions): boolean {
  const expected = listed.get(toKey(namespace, name))?.resourceVersion
  return store.get(namespace, name)?.version === (expected === undefined ? undefined : Number(expected))
}

function collectionPath(path: string, namespace: string): string {
  if (namespace === '') return path
  const at = path.lastIndexOf('/')
  return `${path.slice(0, at)}/namespaces/${encodeURIComponent(namespace)}${path.slice(at)}`
}

/** Escapes a value for a field selector (EscapeValue of k8s.io/apimachinery/pkg/fields). */
function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

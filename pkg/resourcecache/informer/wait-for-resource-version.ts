import { tooLargeResourceVersion } from '../../apierrors/status.ts'
import type { ObjectStore, Scope } from '../store/store.ts'
import { momentMs } from './consistent-read.ts'

// As in kube-apiserver: long enough for a delayed watch event, short enough for a client with a
// wrong version.
const waitMs = 3_000
const all: Scope = { namespace: '', name: '' }

/**
 * Waits until the store includes every write that completed before the call: a consistent read
 * (KEP-2340).
 *
 * @param scope the part of the kind that is read
 * @throws Status 503, 504
 */
export async function waitForLatest(store: ObjectStore, scope: Scope = all): Promise<void> {
  await store.confirm?.(scope)
}

/**
 * Waits until the collection is at least at `resourceVersion`; '' and '0' do not wait.
 *
 * @throws Status 504 on a timeout
 */
export async function waitForVersion(store: ObjectStore, resourceVersion: string): Promise<void> {
  if (resourceVersion === '' || resourceVersion === '0') return
  const version = Number(resourceVersion)
  if (await store.waitFor(version, momentMs)) return
  confirmSoon(store)
  if (await store.waitFor(version, waitMs)) return
  throw tooLargeResourceVersion(resourceVersion, String(store.version))
}

/**
 * The store of an idle kind reaches a version only by a comparison; if that fails, the version does
 * not change.
 */
export function confirmSoon(store: ObjectStore): void {
  store.confirm?.(all).catch(() => undefined)
}

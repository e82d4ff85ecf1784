import { tooLargeResourceVersion } from '../../apierrors/status.ts'
import type { Collection, Scope } from '../store/store.ts'
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
export async function waitForLatest(collection: Collection, scope: Scope = all): Promise<void> {
  await collection.confirm?.(scope)
}

/**
 * Waits until the collection is at least at `resourceVersion`; '' and '0' take it as it is.
 *
 * @throws Status 504 when it does not get there
 */
export async function waitForVersion(collection: Collection, resourceVersion: string): Promise<void> {
  if (resourceVersion === '' || resourceVersion === '0') return
  const version = Number(resourceVersion)
  if (await collection.waitFor(version, momentMs)) return
  confirmSoon(collection)
  if (await collection.waitFor(version, waitMs)) return
  throw tooLargeResourceVersion(resourceVersion, String(collection.version))
}

/**
 * The store of an idle kind reaches a version only by a comparison. A failure shows as an unchanged
 * version.
 */
export function confirmSoon(collection: Collection): void {
  collection.confirm?.(all).catch(() => undefined)
}

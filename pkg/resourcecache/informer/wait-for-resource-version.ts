import { tooLargeResourceVersion } from '../../apierrors/status.ts'
import type { ObjectStore, Scope } from '../store/store.ts'
import { momentMs } from './consistent-read.ts'

// The timeout of kube-apiserver: long enough for a delayed watch event, short enough for a client
// that requests a version that does not exist.
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

/** Waits for `resourceVersion`, unless '' or '0'. @throws Status 504 on a timeout */
export async function waitForVersion(store: ObjectStore, resourceVersion: string): Promise<void> {
  if (resourceVersion === '' || resourceVersion === '0') return
  const version = Number(resourceVersion)
  if (await store.waitFor(version, momentMs)) return
  confirmSoon(store)
  if (await store.waitFor(version, waitMs)) return
  throw tooLargeResourceVersion(resourceVersion, String(store.version))
}

/**
 * Starts a comparison with kube-apiserver, without which the store of an idle kind does not reach a
 * newer version. An error is ignored: the version then remains unchanged.
 */
export function confirmSoon(store: ObjectStore): void {
  store.confirm?.(all).catch(() => undefined)
}

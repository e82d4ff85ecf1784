import { tooLargeResourceVersion } from '../status/status.ts'
import type { Collection } from './collection.ts'

// As kube-apiserver: long enough for a watch event on its way, short enough for a client with a wrong version.
const waitMs = 3_000

/**
 * Waits until the collection is at least at `resourceVersion`; '' and '0' take it as it is.
 *
 * @throws Status 504 when it does not get there
 */
export async function waitForVersion(collection: Collection, resourceVersion: string): Promise<void> {
  if (resourceVersion === '' || resourceVersion === '0') return
  if (await collection.waitFor(Number(resourceVersion), waitMs)) return
  throw tooLargeResourceVersion(resourceVersion, String(collection.version))
}

import { createSharedResult } from '../../../cache/shared-result.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { fieldsOf, textOf } from '../../../kubeclient/object/object.ts'

const keepMs = 60_000

/** Returns whether a version.Info, such as "36+", is at least a minor release. */
export function isAtLeast(info: unknown, wantedMinor: number): boolean {
  const { major, minor } = fieldsOf(info)
  return textOf(major) === '1' && Number.parseInt(textOf(minor), 10) >= wantedMinor
}

/**
 * Returns a function that requests version.Info of kube-apiserver at most once per minute. It
 * resolves to undefined while kube-apiserver is not responding.
 */
export function createKubernetesVersion(client: KubeClient): () => Promise<unknown> {
  const read = () => client.call({ path: '/version', timeoutMs: 2_000 })
  const shared = createSharedResult(read, { keepMs, failedForMs: 0 })
  // A failure is not an error here: other checks report a kube-apiserver that is not responding.
  return () => shared().catch(() => undefined)
}

import { setTimeout as sleep } from 'node:timers/promises'
import { isStatus } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Check } from './probes.ts'

export type CredentialCheckOptions = {
  readonly client: Pick<KubeClient, 'call'>
  readonly signal: AbortSignal
  /** Interval of the check; `againMs` is the shorter interval after a rejection. */
  readonly everyMs?: number
  readonly againMs?: number
}

/**
 * Creates a health check that fails while kube-apiserver rejects the credential of Kapis (401),
 * since every request would get a 503. More than one rejection is required, because a token file
 * may just have been renewed. Other checks report a kube-apiserver that is not responding.
 */
export function checkCredential({
  client,
  signal,
  everyMs = 10_000,
  againMs = 1_000,
}: CredentialCheckOptions): Check {
  let rejections = 0
  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        await client.call({ path: '/version', timeoutMs: 5_000 })
        rejections = 0
      } catch (error) {
        if (isStatus(error, 401)) rejections += 1
      }
      await sleep(rejections === 0 ? everyMs : againMs, undefined, { ref: false, signal }).catch(
        () => undefined,
      )
    }
  }
  void follow()
  return {
    name: 'credential',
    problem: () => (rejections > 1 ? 'kube-apiserver rejects the credential of Kapis' : undefined),
  }
}

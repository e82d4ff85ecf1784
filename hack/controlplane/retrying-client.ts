import { setTimeout as sleep } from 'node:timers/promises'
import { Status } from '../../pkg/apierrors/status.ts'
import type { KubeClient } from '../../pkg/kubeclient/client.ts'

/** For how long a call is repeated, and how often, in ms. */
export type RetryLimits = { readonly withinMs: number; readonly everyMs: number }

/**
 * Retries calls that fail with 429, 5xx or no response: on a busy machine, a kube-apiserver that
 * has just started does so occasionally, even when ready. Calls must be idempotent.
 *
 * @throws Status the last one, when time is up; immediately for any other error
 */
export function createRetryingClient(
  client: KubeClient,
  { withinMs, everyMs }: RetryLimits = { withinMs: 60_000, everyMs: 250 },
): KubeClient {
  return {
    ...client,
    async call(call) {
      const deadline = Date.now() + withinMs
      for (;;) {
        try {
          return await client.call(call)
        } catch (error) {
          const mayPass = error instanceof Status && (error.code === 429 || error.code >= 500)
          if (!mayPass || Date.now() > deadline) throw error
        }
        await sleep(everyMs, undefined, call.signal === undefined ? {} : { signal: call.signal })
      }
    },
  }
}

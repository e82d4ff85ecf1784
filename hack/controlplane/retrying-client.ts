import { setTimeout as sleep } from 'node:timers/promises'
import { Status } from '../../pkg/apierrors/status.ts'
import type { KubeClient } from '../../pkg/kubeclient/client.ts'

/** How long a request is retried, and the pause between attempts, in milliseconds. */
export type RetryLimits = { readonly withinMs: number; readonly everyMs: number }

/**
 * Retries requests that fail with 429, 5xx or without a response: on a busy machine, a newly
 * started kube-apiserver sometimes does so although it is ready. Requests must be idempotent.
 *
 * @throws Status the last error after the time limit; any other error immediately
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

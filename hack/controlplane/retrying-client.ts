import type { KubeClient } from '../../pkg/kubeclient/client.ts'
import { isTransient, retry } from '../../pkg/kubeclient/retry.ts'

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
    call(call) {
      const deadline = Date.now() + withinMs
      return retry(() => client.call(call), {
        isRetriable: error => isTransient(error) && Date.now() <= deadline,
        delayMs: () => everyMs,
        ...(call.signal && { signal: call.signal }),
      })
    },
  }
}

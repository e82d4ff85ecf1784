import { setTimeout as sleep } from 'node:timers/promises'
import { Status } from '../../pkg/apierrors/status.ts'
import type { KubeClient } from '../../pkg/kubeclient/client.ts'

/** For how long a call is repeated, and how often, in ms. */
export type Patience = { readonly withinMs: number; readonly everyMs: number }

/**
 * Repeats calls that are not answered, or refused with 429 or 5xx: on a busy machine a kube-apiserver that has just started
 * does so now and then, ready or not. Whatever is called so must be good to do twice.
 *
 * @throws Status the last one, when time is up; at once for any other refusal
 */
export function createPatientClient(
  client: KubeClient,
  { withinMs, everyMs }: Patience = { withinMs: 60_000, everyMs: 250 },
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

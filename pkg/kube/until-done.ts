import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../telemetry/logger.ts'

const retryMs = 2_000

/** Tries `work` again and again until it is done or `signal`: kube-apiserver may come later than the program. */
export async function untilDone(
  work: () => Promise<void>,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await work()
    } catch (err) {
      logger.warn({ err }, 'cannot start yet, trying again')
      await sleep(retryMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

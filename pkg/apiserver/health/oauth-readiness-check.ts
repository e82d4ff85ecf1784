import { setTimeout as sleep } from 'node:timers/promises'
import { isListening } from '../../httpserver/unix-socket.ts'
import type { Check } from './probes.ts'

const everyMs = 100
const usualPatienceMs = 30_000

export type OAuthReadinessOptions = {
  /** Unix socket of kapis-oauth. */
  readonly socket: string
  readonly signal: AbortSignal
  readonly patienceMs?: number
}

/**
 * Creates a health check that fails until kapis-oauth has responded once. Both programs start at
 * the same time, and earlier logins would fail. The check waits for at most half a minute, and only
 * at startup: without kapis-oauth, everything except logins works.
 */
export function checkOAuthReadiness({
  socket,
  signal,
  patienceMs = usualPatienceMs,
}: OAuthReadinessOptions): Check {
  let isAwaited = true
  void untilAnswered(socket, signal, patienceMs).then(() => {
    isAwaited = false
  })
  return {
    name: 'oauth-server',
    problem: () => (isAwaited ? `kapis-oauth does not listen on ${socket} yet` : undefined),
  }
}

async function untilAnswered(socket: string, signal: AbortSignal, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline && !signal.aborted) {
    if (await isListening(socket)) return
    await sleep(everyMs, undefined, { ref: false })
  }
}

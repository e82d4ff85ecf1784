import { hash } from 'node:crypto'

export type UsedAssertions = {
  /**
   * Records that a client has used an ID. The result is `full` if all remembered IDs of the client
   * are still needed: forgetting one would allow its reuse.
   *
   * @param untilMs when the assertion ends, by the clock of the system
   */
  readonly use: (client: string, id: string, untilMs: number) => 'new' | 'used' | 'full'
}

type Used = { readonly ids: Map<string, number>; nextEndMs: number }

// Each takes some hundred bytes. Assertions are used immediately, and libraries let them expire
// after a minute.
const maxPerClient = 20_000
const sweepEveryMs = 60_000

/**
 * Remembers the `jti` of client assertions for as long as they are valid (RFC 7523 section 3),
 * separately for each client, so that none can displace the IDs of another. The end is an absolute
 * time, so it is compared with the clock that the assertion is verified by, and not with a
 * monotonic one, which would forget IDs of assertions that become valid again when the clock is set
 * back.
 */
export function createUsedAssertions({ max = maxPerClient, now = Date.now } = {}): UsedAssertions {
  const clients = new Map<string, Used>()
  let sweptAtMs = now()

  function sweep(nowMs: number): void {
    // Also after the clock was set back.
    if (Math.abs(nowMs - sweptAtMs) < sweepEveryMs) return
    sweptAtMs = nowMs
    for (const [client, used] of clients) {
      removeEnded(used, nowMs)
      if (used.ids.size === 0) clients.delete(client)
    }
  }

  return {
    use(client, id, untilMs) {
      const nowMs = now()
      sweep(nowMs)
      const used = clients.get(client) ?? {
        ids: new Map<string, number>(),
        nextEndMs: Number.POSITIVE_INFINITY,
      }
      // IDs are text of the client, of any length.
      const key = hash('sha256', id, 'base64url')
      const knownUntilMs = used.ids.get(key)
      if (knownUntilMs !== undefined && knownUntilMs > nowMs) return 'used'
      if (used.ids.size >= max && used.nextEndMs <= nowMs) removeEnded(used, nowMs)
      if (used.ids.size >= max) return 'full'
      used.ids.set(key, untilMs)
      used.nextEndMs = Math.min(used.nextEndMs, untilMs)
      clients.set(client, used)
      return 'new'
    },
  }
}

function removeEnded(used: Used, nowMs: number): void {
  used.nextEndMs = Number.POSITIVE_INFINITY
  for (const [id, untilMs] of used.ids) {
    if (untilMs <= nowMs) used.ids.delete(id)
    else used.nextEndMs = Math.min(used.nextEndMs, untilMs)
  }
}

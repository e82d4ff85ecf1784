import { hash } from 'node:crypto'

export type UsedAssertions = {
  /**
   * Records that a client has used an ID. Returns `full` if all remembered IDs of the client are
   * still valid: forgetting one would allow its reuse.
   *
   * @param untilMs when the assertion expires, in milliseconds since the epoch
   */
  readonly use: (client: string, id: string, untilMs: number) => 'new' | 'used' | 'full'
}

type ClientAssertions = { readonly ids: Map<string, number>; nextEndMs: number }

// An entry takes some hundred bytes. Clients use assertions immediately, and libraries let them
// expire after a minute.
const maxPerClient = 20_000
const sweepEveryMs = 60_000

/**
 * Remembers the `jti` of client assertions while they are valid (RFC 7523 section 3), separately
 * for each client, so that no client can displace the IDs of another. Expiry is compared with the
 * system clock, which also verifies the assertions. A monotonic clock would forget IDs of
 * assertions that become valid again when the system clock is set back.
 */
export function createUsedAssertions({ max = maxPerClient, now = Date.now } = {}): UsedAssertions {
  const clients = new Map<string, ClientAssertions>()
  let sweptAtMs = now()

  function sweep(nowMs: number): void {
    // The absolute difference, so that it also sweeps after the clock was set back.
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
      // Hashed: the client chooses the ID, which may have any length.
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

function removeEnded(used: ClientAssertions, nowMs: number): void {
  used.nextEndMs = Number.POSITIVE_INFINITY
  for (const [id, untilMs] of used.ids) {
    if (untilMs <= nowMs) used.ids.delete(id)
    else used.nextEndMs = Math.min(used.nextEndMs, untilMs)
  }
}

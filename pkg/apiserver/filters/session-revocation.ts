import type { Identity } from '../../apirequest/identity/identity.ts'
import type { Exchange } from '../../apirequest/request-context.ts'

export type SessionRevocation = {
  /** Tracks a long-running request. @returns a function that stops tracking it */
  readonly follow: (exchange: Exchange, caller: Identity) => () => void
}

/**
 * Aborts the watches, tails and upgraded connections of a login when it is ended, for example after
 * a theft. As in kube-apiserver, the expiry of a token aborts nothing.
 *
 * @param hasEnded polled for each caller with such a request
 */
export function createSessionRevocation(
  hasEnded: (caller: Identity) => boolean,
  everyMs = 1_000,
): SessionRevocation {
  const open = new Map<Exchange, Identity>()
  let timer: NodeJS.Timeout | undefined

  function check(): void {
    for (const [{ req }, caller] of open) if (hasEnded(caller)) req.socket.destroy()
  }

  return {
    follow(exchange, caller) {
      open.set(exchange, caller)
      timer ??= setInterval(check, everyMs).unref()
      return () => {
        open.delete(exchange)
        if (open.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}

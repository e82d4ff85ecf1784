import type { IncomingMessage } from 'node:http'
import { hasBody } from '../../httpserver/request/has-body.ts'
import { awaitsContinue } from '../server/expect-continue.ts'

const lookEveryMs = 10

export type BodyArrival = {
  /**
   * Waits until the body of a request has arrived, or as much of it as Node.js buffers (64 KiB), or
   * the client has disconnected. The body is not consumed. A body that the client sends only after
   * 100 (Continue) is not waited for.
   *
   * @returns undefined if there is nothing to wait for
   */
  readonly of: (req: IncomingMessage) => Promise<void> | undefined
}

/** Checks all waiting requests with one timer: attackers may send thousands without a body. */
export function createBodyArrival(): BodyArrival {
  const waiting = new Map<IncomingMessage, () => void>()
  let timer: NodeJS.Timeout | undefined

  function check(): void {
    for (const [req, arrived] of waiting) {
      if (!isThere(req)) continue
      waiting.delete(req)
      arrived()
    }
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    of(req) {
      if (!hasBody(req) || awaitsContinue(req) || isThere(req)) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      // Most bodies arrive with their headers, and are parsed before this event-loop turn ends.
      setImmediate(() => {
        if (isThere(req)) return resolve()
        waiting.set(req, resolve)
        timer ??= setInterval(check, lookEveryMs)
      })
      return promise
    },
  }
}

function isThere(req: IncomingMessage): boolean {
  // An invalid length, which the handler rejects.
  if (!Number.isSafeInteger(Number(req.headers['content-length'] ?? 0))) return true
  return req.complete || req.destroyed || req.readableLength >= req.readableHighWaterMark
}

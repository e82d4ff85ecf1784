import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from '../../httpserver/request/has-body.ts'
import type { RequestSeat } from './max-in-flight.ts'

export type TrackedRequest = {
  /** The seat of the request; undefined until it has acquired one. */
  seat: RequestSeat | undefined
  readonly stop: () => void
}

export type SlowClients = { readonly follow: (req: IncomingMessage, res: ServerResponse) => TrackedRequest }

type Entry = TrackedRequest & { moved: number; sinceMs: number }

/**
 * Checks every second which requests wait for their client: for the rest of a body, or for a
 * response to be read. Such a request releases its seat and only counts for its user. After
 * `stallMs` without progress its connection is closed, like send_timeout of nginx.
 *
 * @param stallMs returns the current setting
 */
export function createSlowClients(stallMs: () => number, everyMs = 1_000): SlowClients {
  const followed = new Map<Entry, readonly [IncomingMessage, ServerResponse]>()
  let timer: NodeJS.Timeout | undefined

  function check(): void {
    const now = performance.now()
    for (const [entry, [req, res]] of followed) {
      const { socket } = req
      const moved = socket.bytesRead + socket.bytesWritten
      if (!waitsForClient(req, res) || moved !== entry.moved) {
        entry.moved = moved
        entry.sinceMs = now
        entry.seat?.idle(false)
        continue
      }
      entry.seat?.idle(true)
      // Before the response headers are sent, the deadline of the request applies.
      if (res.headersSent && now - entry.sinceMs > stallMs()) socket.destroy()
    }
  }

  return {
    follow(req, res) {
      const entry: Entry = { seat: undefined, stop, moved: -1, sinceMs: 0 }
      followed.set(entry, [req, res])
      timer ??= setInterval(check, everyMs).unref()
      return entry

      function stop(): void {
        if (!followed.delete(entry)) return
        entry.seat?.idle(false)
        if (followed.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}

function waitsForClient(req: IncomingMessage, res: ServerResponse): boolean {
  if (res.writableNeedDrain || (res.writableEnded && !res.writableFinished)) return true
  return !req.complete && req.readableLength === 0 && hasBody(req)
}

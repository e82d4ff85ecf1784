import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from '../../httpserver/has-body.ts'

/**
 * Ends the connection of a request that has been answered while its body goes on coming. It is read for a while longer, so
 * that anyone who is still sending finds the answer (RFC 9112 section 9.6); without an end strangers could hold connections for
 * as long as they like, by a body of a byte now and then behind a request that was refused.
 */
export function withLingeringClose(req: IncomingMessage, res: ServerResponse, withinMs = 5_000): void {
  if (!hasBody(req)) return
  const { socket } = req
  res.once('finish', () => {
    if (req.complete) return
    // The socket, and not the request: one whose body went on elsewhere has been destroyed with that, without its connection.
    const timer = setTimeout(() => {
      settle()
      if (!req.complete) socket.destroy()
    }, withinMs)
    timer.unref()
    // A connection serves thousands of requests: what is over must not stay with it.
    const settle = () => {
      clearTimeout(timer)
      socket.off('close', settle)
    }
    socket.once('close', settle)
    req.once('end', settle)
  })
}

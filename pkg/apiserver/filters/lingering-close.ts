import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from '../../httpserver/request/has-body.ts'

/**
 * Limits how long a request body may still arrive after the response was sent. Reading on for a
 * while lets the client see the response (RFC 9112 section 9.6); without a limit, anyone could hold
 * connections by sending a rejected body byte by byte.
 */
export function withLingeringClose(req: IncomingMessage, res: ServerResponse, withinMs = 5_000): void {
  if (!hasBody(req)) return
  const { socket } = req
  res.once('finish', () => {
    if (req.complete) return
    // Uses the socket and not the request: a request whose body was piped elsewhere is destroyed
    // with the pipe, but its connection is not.
    const timer = setTimeout(() => {
      settle()
      if (!req.complete) socket.destroy()
    }, withinMs)
    timer.unref()
    // A connection serves thousands of requests: finished ones must leave no listeners.
    const settle = () => {
      clearTimeout(timer)
      socket.off('close', settle)
    }
    socket.once('close', settle)
    req.once('end', settle)
  })
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from '../../httpserver/request/has-body.ts'

/**
 * Reads and discards a request body that still arrives after the response, for a limited time.
 * Reading on lets the client receive the response (RFC 9112 section 9.6) and use the connection
 * again. Without a limit, attackers could occupy connections by sending a rejected body byte by
 * byte.
 */
export function withLingeringClose(req: IncomingMessage, res: ServerResponse, withinMs = 5_000): void {
  if (!hasBody(req)) return
  const { socket } = req
  res.once('finish', () => {
    if (req.complete) return
    // Node.js discards only bodies that no handler has begun to read.
    req.resume()
    // Destroys the socket rather than the request: if the body was piped, the request was destroyed
    // with the pipe, but its connection was not.
    const timer = setTimeout(() => {
      settle()
      if (!req.complete) socket.destroy()
    }, withinMs)
    timer.unref()
    // A connection serves thousands of requests, so finished ones must not leave listeners.
    const settle = () => {
      clearTimeout(timer)
      socket.off('close', settle)
    }
    socket.once('close', settle)
    req.once('end', settle)
  })
}

import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Ends the connection of a request that has been answered while its body goes on coming. It is read for a while longer, so
 * that whoever is still sending finds the answer (RFC 9112 section 9.6); without an end strangers could hold connections for
 * as long as they like, by a body of a byte now and then behind a request that was refused.
 */
export function limitRest(req: IncomingMessage, res: ServerResponse, withinMs = 5_000): void {
  // RFC 9112 section 6.3: without one of these there is no body.
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers
  if (length === undefined && coding === undefined) return
  res.once('finish', () => {
    if (req.complete || req.destroyed) return
    const timer = setTimeout(() => req.destroy(), withinMs)
    timer.unref()
    req.once('end', () => clearTimeout(timer))
    req.once('close', () => clearTimeout(timer))
  })
}

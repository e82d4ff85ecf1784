import type { IncomingMessage, ServerResponse } from 'node:http'
import { hooksOf } from '../../httpserver/hooked-message.ts'

const requestId = /^[\w.:/+=-]{1,128}$/

/** The id goes on every response, no matter who writes its head; and the caller's own, for those who look for theirs. */
export function withAuditId(req: Pick<IncomingMessage, 'headers'>, res: ServerResponse, id: string): void {
  const { 'x-request-id': given, upgrade } = req.headers
  const isGiven = typeof given === 'string' && requestId.test(given)
  // An upstream's own takes the place of the caller's; and a handshake is written by hand, from the headers that are set.
  if (isGiven) res.setHeader('x-request-id', given)
  if (isGiven || upgrade !== undefined) res.setHeader('audit-id', id)
  else hooksOf(res).addToHead('audit-id', id)
}

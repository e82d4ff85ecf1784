import type { IncomingMessage, ServerResponse } from 'node:http'
import { hooksOf } from '../../httpserver/hooked-message.ts'

const requestId = /^[\w.:/+=-]{1,128}$/

/**
 * Sets Audit-Id and X-Request-Id on every response, regardless of how the handler writes headers.
 * An X-Request-Id that the caller sent is returned.
 */
export function withAuditId(req: Pick<IncomingMessage, 'headers'>, res: ServerResponse, id: string): void {
  const { 'x-request-id': sentId, upgrade } = req.headers
  const isGiven = typeof sentId === 'string' && requestId.test(sentId)
  // The header of an upstream server replaces this one. A WebSocket handshake is written with the
  // headers that are set here.
  if (isGiven) res.setHeader('x-request-id', sentId)
  if (isGiven || upgrade !== undefined) res.setHeader('audit-id', id)
  else hooksOf(res).addToHead('audit-id', id)
}

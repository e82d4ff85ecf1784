import type { IncomingMessage, ServerResponse } from 'node:http'
import { http } from '../request/node-http.ts'

const requestId = /^[\w.:/+=-]{1,128}$/

/**
 * The id goes on every answer, whoever writes its head; and the caller's own, for those who look for theirs.
 *
 * It joins the lines of a head that is given as a list, as the proxy gives it: with a header that was set before, node takes such
 * a list apart and checks each line three times.
 */
export function setIds(req: Pick<IncomingMessage, 'headers'>, res: ServerResponse, id: string): void {
  const { 'x-request-id': given, upgrade } = req.headers
  const isGiven = typeof given === 'string' && requestId.test(given)
  // An upstream's own takes the place of the caller's; and a handshake is written by hand, from the headers that are set.
  if (isGiven) res.setHeader('x-request-id', given)
  if (isGiven || upgrade !== undefined) {
    res.setHeader('audit-id', id)
    return
  }
  // One function for all of them: one of its own for each would keep the request until V8 collects everything.
  Object.assign(res, { auditId: id, writeHead })
}

function writeHead(this: ServerResponse & { readonly auditId: string }, ...args: unknown[]): unknown {
  const lines = args.at(-1)
  if (Array.isArray(lines)) args[args.length - 1] = ['audit-id', this.auditId, ...lines]
  else this.setHeader('audit-id', this.auditId)
  return Reflect.apply(http.ServerResponse.prototype.writeHead, this, args)
}

import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { badRequest } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import type { RequestLine } from '../../apirequest/request-line.ts'
import { passWarning } from '../../httpserver/response/warning.ts'
import { type CollectedList, ListCollector } from './list-collector.ts'

export type SubrequestTools = {
  /** Parses a path with its query. @throws Status 400 */
  readonly readLine: (method: string, url: string) => RequestLine
  /** Audits, authorizes and serves a list like a request. @throws Status 400, 403, 404, 503 */
  readonly serveList: Handler
}

/** Returns a part of a request with its own path and audit ID, and the same caller. */
export function toSubrequest(
  exchange: AuthenticatedExchange,
  { info, rawPath, rawQuery, query }: RequestLine,
  res: ServerResponse,
): AuthenticatedExchange {
  const { upgrade: _upgrade, markLongRunning: _markLongRunning, openWatch: _openWatch, ...shared } = exchange
  return { ...shared, isSubrequest: true, id: randomUUID(), info, rawPath, rawQuery, query, res }
}

/** A list that is a part of another request, and the headers of its response. */
export type CollectedPart = { readonly list: CollectedList; readonly headers: ListCollector }

/** Lists a kind as a part of another request. @throws Status 400, 403, 404, 503 */
export type CollectList = (exchange: AuthenticatedExchange, url: string) => Promise<CollectedPart>

export function createCollectList({ readLine, serveList }: SubrequestTools): CollectList {
  return async (exchange, url) => {
    const res = new ListCollector(exchange.req)
    // A nested list ends when the response of the whole request has been closed.
    const end = () => void res.destroy()
    exchange.res.once('close', end)
    try {
      await serveList(toSubrequest(exchange, readLine('GET', url), res))
    } finally {
      exchange.res.off('close', end)
    }
    if (res.collected === undefined)
      throw badRequest(`${url.split('?')[0]} cannot be a part of a list of several kinds`)
    return { list: res.collected, headers: res }
  }
}

/** Passes on the warnings of a part of a request. */
export function passWarnings(from: ServerResponse, to: ServerResponse): void {
  for (const header of [from.getHeader('warning') ?? []].flat()) passWarning(to, String(header))
}

/** Returns the number of objects of a part, and of the namespaces that it includes if narrowed. */
export function totalOf({ headers }: CollectedPart, totalItems: number) {
  const namespaces = Number(headers.getHeader('kapis-narrowed-namespaces') ?? 0)
  return { totalItems, ...(namespaces > 0 && { namespaces }) }
}

const maxKinds = 50
// The syntax of DNS labels (RFC 1035), which plurals of custom resources have too.
const kindForm = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/
const namespaceForm = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Parses `kinds=pods,services`. @throws Status 400 */
export function parseKinds(text: string): readonly string[] {
  const kinds = [...new Set(text.split(','))]
  if (kinds.length > maxKinds)
    throw badRequest(`kinds has ${kinds.length} names; at most ${maxKinds} are allowed`)
  const wrong = kinds.find(kind => !kindForm.test(kind))
  if (wrong !== undefined)
    throw badRequest(`invalid kinds: ${JSON.stringify(wrong.slice(0, 64))} is not a plural such as pods`)
  return kinds
}

/** Parses the namespace of a request for several kinds; '' for all. @throws Status 400 */
export function parseNamespace(namespace: string): string {
  if (namespace === '' || namespaceForm.test(namespace)) return namespace
  throw badRequest(
    `invalid namespace ${JSON.stringify(namespace.slice(0, 64))}: expected the name of a namespace`,
  )
}

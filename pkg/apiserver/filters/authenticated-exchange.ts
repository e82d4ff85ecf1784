import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Exchange } from '../../apirequest/request-context.ts'
import type { RequestLine } from '../../apirequest/request-line.ts'

/** An authenticated caller, and whether kube-apiserver forwarded the request for them. */
export type Caller = { readonly identity: Identity; readonly isAggregated: boolean }

export function toExchange(
  line: RequestLine,
  req: IncomingMessage,
  res: ServerResponse,
  id: string,
): Exchange {
  const { info, rawPath, rawQuery, query } = line
  return { req, res, id, info, rawPath, rawQuery, query }
}

// Copies fields by name: this code runs for every request, and a spread costs ten times as much.
export function toAuthenticated(
  exchange: Exchange,
  { identity, isAggregated }: Caller,
): AuthenticatedExchange {
  const { req, res, id, info, rawPath, rawQuery, query } = exchange
  return { req, res, id, info, rawPath, rawQuery, query, identity, isAggregated }
}

export function withLongRunning(
  exchange: AuthenticatedExchange,
  markLongRunning: () => void,
): AuthenticatedExchange {
  const { req, res, id, info, rawPath, rawQuery, query, identity, isAggregated } = exchange
  if (exchange.upgrade !== undefined || exchange.impersonator !== undefined)
    return { ...exchange, markLongRunning }
  return { req, res, id, info, rawPath, rawQuery, query, identity, isAggregated, markLongRunning }
}

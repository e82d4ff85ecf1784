import { badRequest, methodNotAllowed } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import type { RequestLine } from '../../apirequest/request-line.ts'
import { HookedResponse } from '../../httpserver/hooked-message.ts'
import {
  type EventStream,
  toEventStream,
  toServerSentEvents,
} from '../../httpserver/response/event-stream.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import { toSubrequest } from '../subrequests/subrequest.ts'
import { type Connection, createConnection, type StartWatch } from './connection.ts'
import { parseSubscriptionMessage, parseSubscriptions, type SubscriptionMessage } from './message.ts'

export type SubscriptionsOptions = {
  /** Parses a path with its query. @throws Status 400 */
  readonly readLine: (method: string, url: string) => RequestLine
  /** Audits, authorizes and serves a watch like a request. @throws Status 400, 403, 404, 503 */
  readonly serveWatch: Handler
  readonly broadcaster: Pick<WatchBroadcaster, 'register' | 'stallMs'>
  /** Timeout for the start of a watch. */
  readonly startMs: () => number
}

/** The plural under which the resources group serves subscriptions. */
export const subscriptionsPlural = 'subscriptions'

const parameter = 'subscriptions'

/**
 * Serves `GET /kapis/resources.<group domain>/v1alpha3/subscriptions`: several watches over one
 * WebSocket, or over one response with server-sent events. For the latter, the parameter
 * `subscriptions` contains the watches. Each watch is authorized like a separate request.
 *
 * @throws Status 400, 405
 */
export function createSubscriptions(options: SubscriptionsOptions): Handler {
  const { readLine, serveWatch } = options
  return exchange => {
    const { req, upgrade, query } = exchange
    if (req.method !== 'GET') throw methodNotAllowed(['GET'])
    const start: StartWatch = async (path, open) => {
      const line = readLine('GET', path)
      if (!line.info.isResource || line.info.verb !== 'watch')
        throw badRequest('invalid path: only watches can be subscribed to; add watch=true')
      const res = new HookedResponse(req)
      await serveWatch({ ...toSubrequest(exchange, line, res), openWatch: () => open(headersOf(res)) })
    }
    const text = query.get(parameter) ?? ''
    const first = text === '' ? [] : parseSubscriptions(text)
    if (upgrade === undefined && first.length === 0)
      throw badRequest(`${parameter} is required: a JSON array of {"id", "path"}; or open a WebSocket`)
    return carry(exchange, { ...options, start, first })
  }
}

function carry(
  exchange: AuthenticatedExchange,
  {
    start,
    first,
    broadcaster,
    startMs,
  }: Pick<SubscriptionsOptions, 'broadcaster' | 'startMs'> & {
    readonly start: StartWatch
    readonly first: readonly SubscriptionMessage[]
  },
): Promise<void> {
  const opened = Promise.withResolvers<Connection>()
  const stream: EventStream =
    exchange.upgrade === undefined
      ? toServerSentEvents(exchange)
      : toEventStream(exchange, 'application/json', async text => {
          const connection = await opened.promise
          await connection.receive(() => parseSubscriptionMessage(text))
        })
  const out = stream.open()
  const connection = createConnection(stream, { out, start, startMs, stallMs: broadcaster.stallMs })
  broadcaster.register(out, connection.end)
  for (const message of first) void connection.receive(() => message)
  opened.resolve(connection)
  return new Promise(resolve => out.once('close', resolve))
}

/** Returns the values that the response headers of a separate watch would contain. */
function headersOf(res: HookedResponse): Readonly<Record<string, string | readonly string[]>> {
  const names = res.getHeaderNames().filter(name => name === 'warning' || name.startsWith('kapis-'))
  return Object.fromEntries(
    names.map(name => {
      const value = res.getHeader(name)
      return [name, Array.isArray(value) ? value : String(value)]
    }),
  )
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { Identity } from './identity/identity.ts'
import type { QueryParameters } from './query/query-parameters.ts'
import type { RequestInfo } from './request-info.ts'

/**
 * A request and its response on their way through the filters. Filters pass on an extended copy and
 * never mutate it.
 */
export type Exchange = {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Audit-Id: that of kube-apiserver if it sent one, so that both audit logs can be joined. */
  readonly id: string
  readonly info: RequestInfo
  /** Path and query for the upstream server. */
  readonly rawPath: string
  readonly rawQuery: string
  readonly query: QueryParameters
  /** Bytes received after the headers of an upgrade request; undefined for any other request. */
  readonly upgrade?: Buffer
  /**
   * Marks the response as long-running: a watch, a followed log or an upgraded connection. It then
   * has no deadline, leaves the max-in-flight limit, and ends when the login of the caller ends.
   */
  readonly lasts?: () => void
  /** It is part of another request, and has no request line and no connection of its own. */
  readonly isSubrequest?: true
  /** Opens the stream for the events of a watch that does not write them to its response. */
  readonly openWatch?: () => Writable
}

export type AuthenticatedExchange = Exchange & {
  /** The user that the request acts as, and whose permissions apply. */
  readonly identity: Identity
  /** The authenticated caller, if it is another user (`kubectl --as`). */
  readonly impersonator?: Identity
  /** Whether the aggregator of kube-apiserver forwarded the request on behalf of its caller. */
  readonly isAggregated: boolean
}

/** Handles a request, or throws: a Status for the caller, any other error for the log. */
export type Handler<E extends Exchange = AuthenticatedExchange> = (exchange: E) => void | Promise<void>

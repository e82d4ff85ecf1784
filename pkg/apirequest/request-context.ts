import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { Identity } from './identity/identity.ts'
import type { QueryParameters } from './query/query-parameters.ts'
import type { RequestInfo } from './request-info.ts'

/** A request and its response in the handler chain. Filters extend copies of it. */
export type Exchange = {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Audit-Id: that of kube-apiserver if sent, so that both audit logs can be matched. */
  readonly id: string
  readonly info: RequestInfo
  /** Path and query for the upstream server, not decoded. */
  readonly rawPath: string
  readonly rawQuery: string
  readonly query: QueryParameters
  /** Bytes received after the headers of an upgrade request; undefined for any other request. */
  readonly upgrade?: Buffer
  /**
   * Marks the response as long-running: a watch, a log that is followed, or an upgraded connection.
   * It then has no deadline, does not count for max-in-flight, and ends when the login of the
   * caller ends.
   */
  readonly markLongRunning?: () => void
  /** Set for a part of another request, which has no request line and no connection of its own. */
  readonly isSubrequest?: true
  /** Opens the stream for the events of a watch, if they are not written to its own response. */
  readonly openWatch?: () => Writable
}

export type AuthenticatedExchange = Exchange & {
  /** The user whose permissions apply; the impersonated one for `kubectl --as`. */
  readonly identity: Identity
  /** The authenticated caller, if the request impersonates another user (`kubectl --as`). */
  readonly impersonator?: Identity
  /** Whether the aggregator of kube-apiserver forwarded the request. */
  readonly isAggregated: boolean
}

/** Handles a request. A thrown Status is sent to the caller; any other error is only logged. */
export type Handler<E extends Exchange = AuthenticatedExchange> = (exchange: E) => void | Promise<void>

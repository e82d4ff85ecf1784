import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from './identity.ts'
import type { QueryParameters } from './query-parameters.ts'
import type { RequestInfo } from './request-info.ts'

/** One request and its answer on their way through the filters. Filters hand on a wider copy, they do not mutate. */
export type Exchange = {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Audit-Id: the caller's own when kube-apiserver sent one, so that both audit logs can be joined. */
  readonly id: string
  readonly info: RequestInfo
  /** Path and query as they are handed on. */
  readonly rawPath: string
  readonly rawQuery: string
  readonly query: QueryParameters
  /** What was read behind the head of a request that wants another protocol; undefined for every other request. */
  readonly upgrade?: Buffer
  /**
   * Says that the answer that begins now may last for hours: a watch, a followed log, an upgraded connection. It then has no
   * deadline and no place among the requests in flight, and it ends with the login of its caller.
   */
  readonly lasts?: () => void
}

export type AuthenticatedExchange = Exchange & {
  /** The user that the request acts as, and whose rights decide. */
  readonly identity: Identity
  /** The caller whose credential it is, where that is another user (`kubectl --as`). */
  readonly impersonator?: Identity
  /** Whether kube-apiserver's aggregator forwarded the request, and its caller is someone else. */
  readonly isAggregated: boolean
}

/** Answers a request, or throws: a Status for the caller, anything else for the log. */
export type Handler<E extends Exchange = AuthenticatedExchange> = (exchange: E) => void | Promise<void>

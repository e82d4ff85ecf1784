import { Status } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { renderError } from '../../httpserver/response/render-error.ts'

/**
 * Responds with 504 if the response headers are not sent within the deadline, and aborts the
 * request. A response that has begun continues as fast as its client reads. If the request body is
 * still arriving, the connection is closed after the response.
 *
 * @returns a function that cancels the deadline
 */
export function withDeadline(exchange: Exchange, seconds: number): () => void {
  const { req, res, query } = exchange
  const timer = setTimeout(
    () => {
      if (res.headersSent || res.destroyed) return
      // The rest of the request is not read, so the connection cannot be reused.
      if (!req.complete) {
        res.setHeader('connection', 'close')
        res.once('finish', () => req.destroy())
      }
      renderError(res, timedOut())
    },
    deadlineMs(query, seconds),
  )
  return () => clearTimeout(timer)
}

/** Returns the timeout error of kube-apiserver. */
function timedOut(): Status {
  const message = 'Timeout: request did not complete within the allotted timeout'
  return new Status(504, 'Timeout', message, { details: {} })
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Returns the deadline, which `?timeout=` (a Go duration) may shorten; handlers validate it. */
function deadlineMs(query: QueryParameters, seconds: number): number {
  const timeout = query.first('timeout')
  const most = seconds * 1_000
  if (timeout === null || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(timeout)) return most
  let requestedMs = 0
  for (const [, amount, unit = ''] of timeout.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    requestedMs += Number(amount) * (units[unit] ?? 0)
  }
  return requestedMs > 0 ? Math.min(requestedMs, most) : most
}

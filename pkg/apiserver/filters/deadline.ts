import { Status } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query-parameters.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { renderError } from '../../httpserver/render-error.ts'

/**
 * Answers 504 for a request that has no head of an answer in time, and makes an end of it. An answer that has begun goes on
 * at the pace of its client; a body that still trickles in then takes its connection with it.
 *
 * @returns what calls it off
 */
export function withDeadline(exchange: Exchange, seconds: number): () => void {
  const { req, res, query } = exchange
  const timer = setTimeout(
    () => {
      if (res.headersSent || res.destroyed) return
      // Nobody reads the rest of the request: the connection cannot be used again.
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

/** kube-apiserver's words. */
function timedOut(): Status {
  const message = 'Timeout: request did not complete within the allotted timeout'
  return new Status(504, 'Timeout', message, { details: {} })
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** `?timeout=` is a Go duration and may shorten the deadline. What cannot be read is for anyone who serves the request to refuse. */
function deadlineMs(query: QueryParameters, seconds: number): number {
  const given = query.first('timeout')
  const most = seconds * 1_000
  if (given === null || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(given)) return most
  let asked = 0
  for (const [, amount, unit = ''] of given.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    asked += Number(amount) * (units[unit] ?? 0)
  }
  return asked > 0 ? Math.min(asked, most) : most
}

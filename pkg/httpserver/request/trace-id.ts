import type { IncomingMessage } from 'node:http'

const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/

/**
 * Returns the trace ID of a request for the log, from traceparent (W3C Trace Context); undefined
 * without one. Without tracing the header is forwarded unchanged; with tracing,
 * pkg/telemetry/tracing has replaced it by its own span.
 */
export function traceId(req: Pick<IncomingMessage, 'headers'>): string | undefined {
  const { traceparent: header } = req.headers
  if (typeof header !== 'string' || header.startsWith('ff')) return undefined
  const id = traceparent.exec(header)?.[1]
  return id === undefined || /^0+$/.test(id) ? undefined : id
}

import type { IncomingMessage } from 'node:http'

const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/

/**
 * The trace that a request belongs to (W3C Trace Context, traceparent); undefined when it says none, or none that is valid.
 * For the log alone: without tracing the header itself goes on as it came, and with it pkg/telemetry/tracing has put its own span there.
 */
export function traceId(req: Pick<IncomingMessage, 'headers'>): string | undefined {
  const { traceparent: given } = req.headers
  if (typeof given !== 'string' || given.startsWith('ff')) return undefined
  const id = traceparent.exec(given)?.[1]
  return id === undefined || /^0+$/.test(id) ? undefined : id
}

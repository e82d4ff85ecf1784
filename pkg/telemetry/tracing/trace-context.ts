import type { IncomingMessage } from 'node:http'
import { createTraceState, type SpanContext } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { strippedHeader } from '../../httpserver/request/stripped-header.ts'

const names = ['traceparent', 'tracestate']

type Message = Pick<IncomingMessage, 'headers' | 'rawHeaders'>

/** Reads the caller's span context (W3C Trace Context); undefined if missing or invalid. */
export function readContext({ headers }: Message): SpanContext | undefined {
  const { traceparent, tracestate } = headers
  if (typeof traceparent !== 'string') return undefined
  const found = parseTraceParent(traceparent)
  if (found === null) return undefined
  const state = typeof tracestate === 'string' ? { traceState: createTraceState(tracestate) } : {}
  return { ...found, isRemote: true, ...state }
}

export function toTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

/**
 * Replaces the caller's trace context by that of a span, in `headers` and `rawHeaders`, because
 * handlers read either. Handlers that forward headers thus forward the new context.
 */
export function writeContext({ headers, rawHeaders }: Message, context: SpanContext): void {
  const state = context.traceState?.serialize()
  const values = new Map([
    ['traceparent', toTraceParent(context)],
    ...(state ? [['tracestate', state] as const] : []),
  ])
  // Set to undefined, not deleted: V8 makes later accesses slow after a deletion.
  for (const name of names) headers[name] = values.get(name)
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (!names.includes(name)) continue
    rawHeaders[i] = values.has(name) ? name : strippedHeader
    rawHeaders[i + 1] = values.get(name) ?? ''
    values.delete(name)
  }
  rawHeaders.push(...[...values].flat())
}

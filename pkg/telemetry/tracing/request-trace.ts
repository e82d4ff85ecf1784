import type { IncomingMessage } from 'node:http'
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { RequestLine } from '../../apirequest/request-line.ts'
import { serverAttributes, toMethod } from './attributes.ts'
import { toPathAttribute, toRoute } from './route.ts'
import { readContext, writeContext } from './trace-context.ts'

/** The result of a request or call: its status code or its error type. */
export type Outcome = { readonly code?: number | undefined; readonly error?: string }

/** The client span of an upstream call that belongs to a request. */
export type Child = {
  /** The trace context for upstream servers; undefined before authentication. */
  readonly context: SpanContext | undefined
  /** Ends the span. Later calls have no effect. */
  readonly end: (outcome: Outcome) => void
}

export type RequestTrace = {
  /** Starts the server span after authentication. Later calls have no effect. */
  readonly begin: (identity: Identity | undefined) => void
  /** Starts a client span; undefined after the request has ended. */
  readonly child: (method: string, route: string, attributes: Attributes) => Child | undefined
  readonly end: (outcome: Outcome, more: Attributes) => void
}

export type TraceTools = {
  readonly tracer: Tracer
  /** Returns the route for use in a span name; see createRouteNames. */
  readonly nameOf: (route: string, code: number | undefined) => string | undefined
  /** Reports whether the caller's trace, with its sampling decision, is continued. */
  readonly isContinued: (identity: Identity | undefined) => boolean
}

/**
 * Creates the trace of a request. As in kube-apiserver, its span starts after authentication: the
 * `traceparent` of an unprivileged caller must neither enable sampling nor extend another trace,
 * and only becomes a link. Client spans of earlier calls are created afterwards.
 */
export function createRequestTrace(
  req: IncomingMessage,
  line: RequestLine | undefined,
  { tracer, nameOf, isContinued }: TraceTools,
): RequestTrace {
  const startTime = performance.now()
  const method = toMethod(req.method)
  const route = line === undefined ? '' : toRoute(line.info)
  const early: (() => void)[] = []
  let server: Span | undefined
  let isOver = false

  function begin(identity: Identity | undefined): Span {
    if (server !== undefined) return server
    const parentContext = readContext(req)
    const isParent = parentContext !== undefined && isContinued(identity)
    const links = parentContext !== undefined && !isParent ? [{ context: parentContext }] : []
    const path = line === undefined ? {} : { 'url.path': toPathAttribute(line.info) }
    const attributes = { ...serverAttributes(req), ...path }
    server = tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, startTime, attributes, links },
      isParent ? trace.setSpanContext(ROOT_CONTEXT, parentContext) : ROOT_CONTEXT,
    )
    writeContext(req, server.spanContext())
    for (const join of early) join()
    return server
  }

  function finish(span: Span, outcome: Outcome, ending: { method: string; route: string; at: number }): void {
    const { code, error } = outcome
    const name = nameOf(ending.route, code)
    if (name !== undefined) span.updateName(`${ending.method} ${name}`)
    if (code !== undefined) span.setAttribute('http.response.status_code', code)
    const firstBad = span === server ? 500 : 400
    const problem = error ?? (code !== undefined && code >= firstBad ? String(code) : undefined)
    if (problem !== undefined) {
      span.setAttribute('error.type', problem)
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end(ending.at)
  }

  return {
    begin: identity => void begin(identity),
    child(calls, called, attributes) {
      if (isOver) return undefined
      const startTime = performance.now()
      const name = toMethod(calls)
      const options = {
        kind: SpanKind.CLIENT,
        startTime,
        attributes: { 'http.request.method': name, ...attributes },
      }
      const start = (parent: Span) => tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, parent))
      const begun = server && start(server)
      let hasEnded = false
      return {
        context: begun?.spanContext(),
        end(outcome) {
          if (hasEnded) return
          hasEnded = true
          const at = performance.now()
          const join = () =>
            finish(begun ?? start(begin(undefined)), outcome, { method: name, route: called, at })
          if (server === undefined) early.push(join)
          else join()
        },
      }
    },
    end(outcome, more) {
      const span = begin(undefined)
      isOver = true
      const name = nameOf(route, outcome.code)
      span.setAttributes(name === undefined ? more : { ...more, 'http.route': name })
      finish(span, outcome, { method, route, at: performance.now() })
    },
  }
}

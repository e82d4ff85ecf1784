import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../../apirequest/identity/identity.ts'
import { createLineReader, type RequestLine } from '../../apirequest/request-line.ts'
import type { Call } from '../../kubeclient/client.ts'
import { peerAttributes } from './attributes.ts'
import { createPipeline } from './pipeline.ts'
import { type Child, createRequestTrace, type Outcome, type RequestTrace } from './request-trace.ts'
import { createRouteNames, toRoute } from './route.ts'
import { toTraceParent, writeContext } from './trace-context.ts'
import type { Tracing, TracingOptions } from './tracing.ts'

/** Groups whose sampling decision is used, as in kube-apiserver. */
const privileged = ['system:masters', 'system:monitoring']
/** Probes and scrapes are not traced: they are frequent, and their spans are of no use. */
const probes = /^\/(?:healthz|livez|readyz|metrics)(?:[/?]|$)/

const maxEndings = 32

/** Creates tracing that exports spans to an OTLP collector. */
export function traceWith(options: TracingOptions): Tracing {
  const { tracer, stop } = createPipeline(options)
  const current = new AsyncLocalStorage<RequestTrace>()
  const readLine = toleratingReader()
  // Audit IDs by response: `getHeader` does not find headers of writeHead in a flat list.
  const ids = new WeakMap<ServerResponse, string>()
  const isForAll = options.continues === 'everybody'
  const tools = {
    tracer,
    nameOf: createRouteNames(),
    isContinued: (identity: Identity | undefined) =>
      isForAll ||
      (identity !== undefined &&
        identity.isTrimmed !== true &&
        privileged.some(group => identity.groups.includes(group))),
  }

  return {
    listener:
      listen =>
      (req, res, ...more) => {
        if (probes.test(req.url ?? '')) return listen(req, res, ...more)
        const trace = createRequestTrace(req, readLine(req.method, req.url), tools)
        // Several wrappers listen for the end of a response. Node.js would warn of a leak at its
        // default limit of 10 listeners.
        res.setMaxListeners(maxEndings)
        if (isForAll) trace.begin(undefined)
        res.once('close', () => trace.end(toOutcome(res), auditId(ids.get(res) ?? res.getHeader('audit-id'))))
        current.run(trace, () => listen(req, res, ...more))
      },

    authenticate<C extends { readonly identity: Identity }>(find: (req: IncomingMessage) => C | Promise<C>) {
      return req => {
        const trace = current.getStore()
        const known = (caller: C) => {
          trace?.begin(caller.identity)
          return caller
        }
        const found = find(req)
        return found instanceof Promise ? found.then(known) : known(found)
      }
    },

    client(client, peer) {
      const attributes = peerAttributes(peer)
      async function send<T>(call: Call, sendOn: (call: Call) => Promise<T>): Promise<T> {
        const { method = 'GET', path } = call
        const child = current.getStore()?.child(method, routeOf(readLine(method, path)), attributes)
        if (child === undefined) return sendOn(call)
        let code: number | undefined
        const watched: Call = {
          ...call,
          ...(child.context
            ? { headers: [...(call.headers ?? []), 'traceparent', toTraceParent(child.context)] }
            : {}),
          onResponse(status, headers) {
            code = status
            call.onResponse?.(status, headers)
          },
        }
        try {
          const response = await sendOn(watched)
          child.end({ code })
          return response
        } catch (error) {
          child.end(code === undefined ? { error: toErrorType(error) } : { code })
          throw error
        }
      }
      return {
        call: call => send(call, client.call),
        stream: call => send(call, client.stream),
        close: client.close,
      }
    },

    upstream(peer, forward) {
      const attributes = peerAttributes(peer)
      return (exchange, ...more) => {
        const { req, res, info } = exchange
        const trace = current.getStore()
        trace?.begin(undefined)
        ids.set(res, exchange.id)
        const child = trace?.child(req.method ?? 'GET', toRoute(info), attributes)
        if (child === undefined) return forward(exchange, ...more)
        if (child.context) writeContext(req, child.context)
        // Prepended, so that this span ends before that of the request, on the same event.
        res.prependOnceListener('close', () => child.end(toOutcome(res)))
        return ending(child, () => forward(exchange, ...more))
      }
    },

    stop,
  }
}

/** Returns a parser of request lines; undefined for invalid ones, which the handler rejects. */
function toleratingReader(): (
  method: string | undefined,
  url: string | undefined,
) => RequestLine | undefined {
  const read = createLineReader(undefined, 'all')
  return (method = 'GET', url = '/') => {
    try {
      return read(method, url)
    } catch {
      return undefined
    }
  }
}

function routeOf(line: RequestLine | undefined): string {
  return line === undefined ? '' : toRoute(line.info)
}

/** Returns the outcome of a response. After an upgrade (101) it only has the status. */
function toOutcome(res: ServerResponse): Outcome {
  return res.headersSent || res.statusCode === 101 ? { code: res.statusCode } : { error: 'aborted' }
}

/** Returns the attribute with the request's ID in the audit logs of Kapis and kube-apiserver. */
function auditId(id: unknown): { 'audit-id'?: string } {
  return typeof id === 'string' ? { 'audit-id': id } : {}
}

/** Returns the class name of an error, not the message, which may be confidential. */
function toErrorType(error: unknown): string {
  return error instanceof Error ? error.name : '_OTHER'
}

/** Calls `forward`, and ends the span if that fails. Otherwise the end of the response ends it. */
function ending(child: Child, forward: () => void | Promise<void>): void | Promise<void> {
  const failed = (error: unknown) => {
    child.end({ error: toErrorType(error) })
    throw error
  }
  try {
    const sent = forward()
    return sent instanceof Promise ? sent.catch(failed) : sent
  } catch (error) {
    return failed(error)
  }
}

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

/** As in kube-apiserver: privileged users and monitoring. */
const privileged = ['system:masters', 'system:monitoring']
/** Probes are not traced: they come every second and have no useful information. */
const probes = /^\/(?:healthz|livez|readyz|metrics)(?:[/?]|$)/

const maxEndings = 32

/** Tracing with a collector. */
export function traceWith(options: TracingOptions): Tracing {
  const { tracer, stop } = createPipeline(options)
  const current = new AsyncLocalStorage<RequestTrace>()
  const readLine = toleratingReader()
  // Headers of responses that are written as flat lists, which Node.js does not keep.
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
        // Several parts listen for the end of a response, more than the default limit of Node.js
        // for listeners.
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
          onResponse(given, headers) {
            code = given
            call.onResponse?.(given, headers)
          },
        }
        try {
          const answer = await sendOn(watched)
          child.end({ code })
          return answer
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
        // Runs before the listener of the same event that ends the span of the request.
        res.prependOnceListener('close', () => child.end(toOutcome(res)))
        return ending(child, () => forward(exchange, ...more))
      }
    },

    stop,
  }
}

/** Parses request lines; undefined for an invalid one, which the handler rejects. */
function toleratingReader(): (
  method: string | undefined,
  url: string | undefined,
) => RequestLine | undefined {
  const read = createLineReader()
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

/** Upgrades bypass the response object, which only has the status. */
function toOutcome(res: ServerResponse): Outcome {
  return res.headersSent || res.statusCode === 101 ? { code: res.statusCode } : { error: 'aborted' }
}

/** The ID of the request in the audit logs of Kapis and kube-apiserver. */
function auditId(id: unknown): { 'audit-id'?: string } {
  return typeof id === 'string' ? { 'audit-id': id } : {}
}

/** Low cardinality, and without the message, which may be confidential. */
function toErrorType(error: unknown): string {
  return error instanceof Error ? error.name : '_OTHER'
}

/** Ends the span of a failed call; otherwise it ends with the response. */
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

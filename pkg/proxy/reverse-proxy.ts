import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Duplex, PassThrough, type Readable } from 'node:stream'
import type { Status } from '../apierrors/status.ts'
import type { Dispatcher } from '../http/pool.ts'
import { hasBody } from '../httpserver/request/has-body.ts'
import { forwardableResponseHeaders, type HeaderLines, withoutHeaders } from './headers.ts'
import { invalidResponse, type ResponseHead, readHead, readHeaders } from './response-head.ts'
import { createResponseWriter } from './response-writer.ts'
import { isStaleConnection, upstreamFailure } from './upstream-failure.ts'
import { checkHeaders, checkRequest } from './validate-request.ts'

/** Returns an error to send in place of a 401 or 403; undefined to pass the response on. */
export type ErrorByBody = (code: number, body: Buffer) => Status | undefined

export type UpstreamRequest = {
  readonly connections: Pick<Dispatcher, 'dispatch'>
  /** Path and query exactly as in the request line. */
  readonly path: string
  readonly headers: HeaderLines
  /** More headers, which {@link checkHeaders} has already validated. */
  readonly checked?: HeaderLines
  /** Whether each part of the response must be sent immediately, as for a watch. */
  readonly isLive: boolean
  /** Called when a successful response has begun. */
  readonly begun?: () => void
  /** Name of the upstream server in error messages. */
  readonly upstream: string
  /** Names of response headers that are not passed on, in lower case; by default Audit-Id. */
  readonly withheld?: ReadonlySet<string>
  /** Headers that are added to the response. */
  readonly added?: HeaderLines
  /** Returns an error to send in place of a response; by default all are passed on. */
  readonly rejection?: (code: number, lines: HeaderLines) => Status | undefined
  /** The same for a 401 or 403, by its body. Bodies of more than 64 KiB are passed on. */
  readonly errorByBody?: ErrorByBody
  /** Called with the body of a 404: sends another response in its place, or resolves to false. */
  readonly insteadOf404?: ((body: Buffer) => Promise<boolean>) | undefined
  readonly upgrade?: Upgrade
}

/** How to pass on a request for a protocol upgrade. */
export type Upgrade = {
  /** The protocol in the syntax of the Upgrade header. */
  readonly protocol: string
  /** Takes over both connections, and resolves when both have closed. */
  readonly join: (lines: HeaderLines, peer: Duplex) => Promise<void>
}

type Pair = { readonly req: IncomingMessage; readonly res: ServerResponse }

/** The response already has the Audit-Id of Kapis. */
const ours: ReadonlySet<string> = new Set(['audit-id'])
/** Framing headers must not be in trailers (RFC 9110 section 6.5.1). */
const noTrailers: ReadonlySet<string> = new Set(['content-length', 'host', 'audit-id'])
// Responses with a longer body are not errors of kube-apiserver and are passed on.
const maxHeldBytes = 65_536

/**
 * Proxies a request and streams the response unchanged, at the speed of the slower side. If either
 * side disconnects, the other is disconnected too.
 *
 * @throws Status 400 for an invalid request; 502, 503 or 504 if the upstream server is not
 * responding; the error that `rejection` or `errorByBody` returns. All other responses are passed
 * on, including errors
 */
export function relay(outgoing: UpstreamRequest, { req, res }: Pair): Promise<void> {
  const { path, upgrade, connections, errorByBody, insteadOf404, withheld = ours } = outgoing
  const method = req.method ?? 'GET'
  const body = upgrade === undefined ? toBody(req) : null
  const headers =
    outgoing.checked === undefined ? outgoing.headers : [...outgoing.headers, ...outgoing.checked]
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let isRepeatable = body === null && (method === 'GET' || method === 'HEAD')
  let controller: Dispatcher.DispatchController | undefined
  /** Why the exchange has ended; later events of the upstream connection are then ignored. */
  let gone: Error | undefined
  let held: { readonly head: ResponseHead; readonly chunks: Buffer[]; size: number } | undefined

  const response = createResponseWriter(req, res, {
    isLive: outgoing.isLive,
    wait() {
      controller?.pause()
      res.once('drain', () => {
        // Once this response has ended, the connection serves another request.
        if (gone === undefined) controller?.resume()
      })
    },
  })

  function isHeld(code: number): boolean {
    return code === 404
      ? insteadOf404 !== undefined
      : errorByBody !== undefined && (code === 401 || code === 403)
  }
  function release(): void {
    if (held === undefined) return
    response.begin(held.head)
    for (const chunk of held.chunks) response.write(chunk)
    held = undefined
  }
  function finish(rejection?: Status): void {
    gone = new Error('the response has ended')
    // If the response ends early, the rest of the request body is not needed.
    body?.destroy()
    if (rejection === undefined) resolve()
    else reject(rejection)
  }
  function fail(error: unknown): void {
    if (gone !== undefined) return
    if (isRepeatable && !res.destroyed && isStaleConnection(error)) {
      isRepeatable = false
      // Deferred, so that it does not run within the close handler of the failed connection.
      setImmediate(start)
      return
    }
    // A truncated response must not look complete.
    if (res.headersSent) res.destroy()
    finish(res.destroyed ? undefined : upstreamFailure(outgoing.upstream, error))
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(current) {
      // The client disconnected while the request was waiting for a connection.
      if (gone !== undefined) throw gone
      controller = current
    },
    onResponseStart(current, code, _headers, message = '') {
      // Informational responses (1xx) are hop-by-hop and not passed on.
      if (code >= 100 && code < 200 && code !== 101) return
      isRepeatable = false
      const { lines: all, ...rest } = readHead(code, message, current.rawHeaders)
      const lines = forwardableResponseHeaders(all, withheld)
      if (outgoing.added !== undefined) lines.push(...outgoing.added)
      if (upgrade !== undefined) lines.push('Connection', 'close')
      const head = { ...rest, lines }
      const rejection = outgoing.rejection?.(code, lines)
      if (rejection !== undefined) {
        finish(rejection)
        current.abort(rejection)
      } else if (isHeld(code)) held = { head, chunks: [], size: 0 }
      else {
        if (code < 300) outgoing.begun?.()
        response.begin(head)
      }
    },
    onResponseData(_controller, chunk) {
      if (gone !== undefined) return
      if (held === undefined) return response.write(chunk)
      held.chunks.push(chunk)
      held.size += chunk.length
      if (held.size > maxHeldBytes) release()
    },
    onResponseEnd(current) {
      if (gone !== undefined) return
      const trailers = forwardableResponseHeaders(readHeaders(current.rawTrailers), noTrailers)
      const passOn = () => {
        release()
        response.end(trailers)
        finish()
      }
      if (held === undefined) return passOn()
      const body = Buffer.concat(held.chunks)
      if (held.head.code === 404 && insteadOf404 !== undefined) {
        insteadOf404(body).then(isAnswered => (isAnswered ? finish() : passOn()), finish)
        return
      }
      const rejection = errorByBody?.(held.head.code, body)
      if (rejection === undefined) passOn()
      else finish(rejection)
    },
    onRequestUpgrade(current, _code, _headers, peer) {
      if (upgrade === undefined) throw invalidResponse('a protocol that was not requested')
      res.off('close', abandon)
      gone = new Error('the connection speaks another protocol')
      const lines = withoutHeaders(
        readHeaders(current.rawHeaders),
        name => outgoing.withheld?.has(name) === true,
      )
      upgrade.join(lines, peer).then(resolve, reject)
    },
    onResponseError: (_controller, error) => fail(error),
  }

  function start(): void {
    if (gone !== undefined) return
    // Kubernetes sends DELETE with a body (DeleteOptions). By default, undici would close the
    // connection after such a request.
    const reset = method === 'DELETE' ? { reset: false } : {}
    const protocol = upgrade === undefined ? {} : { upgrade: upgrade.protocol }
    connections.dispatch({ method, path, headers: [...headers], body, ...reset, ...protocol }, handler)
  }
  function abandon(): void {
    if (gone !== undefined) return
    gone = new Error('the client closed the connection')
    controller?.abort(gone)
    body?.destroy()
    resolve()
  }

  res.once('close', abandon)
  try {
    checkRequest({ method, path, headers: outgoing.headers, hasBody: body !== null })
    if (upgrade !== undefined) checkHeaders(['Upgrade', upgrade.protocol])
    start()
  } catch (error) {
    fail(error)
  }
  return promise
}

/**
 * Returns the request body; null if there is none. The body is piped: an upstream server that
 * responds before it has read everything destroys the pipe, not the request. The client can then
 * still read the response.
 */
function toBody(req: IncomingMessage): Readable | null {
  if (!hasBody(req)) return null
  const body = new PassThrough()
  req.pipe(body)
  // A truncated body must not look complete.
  req.once('error', error => body.destroy(error))
  req.once('close', () => {
    if (!req.complete) body.destroy(new Error('the client aborted its request'))
  })
  // The reader of the stream receives the error too; without a reader the error is ignored.
  body.on('error', () => undefined)
  return body
}

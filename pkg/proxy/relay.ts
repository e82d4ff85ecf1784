import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Status } from '../status/status.ts'
import { createAnswerWriter, type Head } from './answer-writer.ts'
import { isStaleConnection, upstreamFailure } from './failure.ts'
import { answerHeaders, type HeaderLines } from './headers.ts'
import { isHeld, maxHeldBytes, type RefusalByBody } from './held-refusal.ts'

export type Outgoing = {
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>
  /** Path and query, as they go on the wire. */
  readonly path: string
  readonly headers: HeaderLines
  /** Whether each piece of the answer is to be seen as it comes: a watch, a log that is followed. */
  readonly isLive: boolean
  /** What does not answer when it does not, for the caller to read. */
  readonly upstream: string
  /** Why an answer is not handed on; undefined when it is. Without it every answer is. */
  readonly refusal?: (code: number, lines: HeaderLines) => Status | undefined
  /** The same for a 401 and a 403, by the body; one that is too large for a refusal is handed on. */
  readonly refusalByBody?: RefusalByBody
}

/** Whoever relays has an id on the answer already. */
const ours: ReadonlySet<string> = new Set(['audit-id'])

/**
 * Sends a request on and hands the answer back as it comes: status, headers and bytes untouched, both bodies as streams, at
 * the pace of the slower side. When either side goes, so does the other.
 *
 * @throws Status 502, 503 or 504 when the upstream did not answer, and the refusal of an answer that is not handed on; any other
 *   is, errors included
 */
export function relay(outgoing: Outgoing, { req, res }: Pair): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const body = toBody(req)
  const isRepeatable = body === null && (req.method === 'GET' || req.method === 'HEAD')
  let controller: Dispatcher.DispatchController | undefined
  let isOver = false
  let isSecondTry = false
  let held: { readonly head: Head; readonly chunks: Buffer[]; size: number } | undefined

  const answer = createAnswerWriter(req, res, {
    isLive: outgoing.isLive,
    wait() {
      controller?.pause()
      res.once('drain', () => controller?.resume())
    },
  })
  function release(): void {
    if (held === undefined) return
    answer.begin(held.head)
    for (const chunk of held.chunks) answer.write(chunk)
    held = undefined
  }
  function refuse(refused: Status): void {
    isOver = true
    body?.destroy()
    reject(refused)
  }
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      controller = given
      if (res.destroyed) given.abort(new Error('the client is gone'))
    },
    onResponseStart(given, code, _headers, message) {
      // Informational answers are this hop's own affair.
      if (code < 200) return
      const lines = answerHeaders(toLines(given.rawHeaders), ours)
      const head = { code, message, lines }
      const refused = outgoing.refusal?.(code, lines)
      if (refused !== undefined) {
        refuse(refused)
        // After it: it tells of the abort as of any other error, in the same turn.
        given.abort(refused)
      } else if (isHeld(code) && outgoing.refusalByBody !== undefined) held = { head, chunks: [], size: 0 }
      else answer.begin(head)
    },
    onResponseData(_given, chunk) {
      if (isOver) return
      if (held === undefined) return answer.write(chunk)
      held.chunks.push(chunk)
      held.size += chunk.length
      if (held.size > maxHeldBytes) release()
    },
    onResponseEnd(_given, trailers) {
      if (isOver) return
      const refused = held && outgoing.refusalByBody?.(held.head.code, Buffer.concat(held.chunks))
      if (refused !== undefined) return refuse(refused)
      release()
      isOver = true
      answer.end(trailers)
      resolve()
    },
    onResponseError(_given, error) {
      if (isOver) return
      if (
        !answer.hasBegun &&
        held === undefined &&
        isRepeatable &&
        !isSecondTry &&
        !res.destroyed &&
        isStaleConnection(error)
      ) {
        isSecondTry = true
        start()
        return
      }
      isOver = true
      body?.destroy()
      if (res.destroyed) return resolve()
      if (res.headersSent) {
        // A broken answer must not look like a short one.
        res.destroy()
        return resolve()
      }
      reject(upstreamFailure(outgoing.upstream, error))
    },
  }
  const method = req.method ?? 'GET'
  const start = () =>
    outgoing.dispatcher.dispatch(
      { method, path: outgoing.path, headers: [...outgoing.headers], body },
      handler,
    )

  res.once('close', () => {
    if (isOver) return
    body?.destroy()
    // Before the request has a connection there is nothing to take back: onRequestStart will.
    controller?.abort(new Error('the client is gone'))
    resolve()
  })
  start()
  return promise
}

type Pair = { readonly req: IncomingMessage; readonly res: ServerResponse }

/**
 * The request's body; null when it has none. It is a stream between the two connections and not the request itself: an
 * upstream that refuses before it has read all ends the one, and the client must still be able to read why.
 */
function toBody(req: IncomingMessage): Readable | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if (encoding === undefined && (length === undefined || length === '0')) return null
  const body = new PassThrough()
  req.pipe(body)
  // Without an end of its own a body that was broken off would look complete.
  req.once('error', error => body.destroy(error))
  req.once('close', () => {
    if (!req.complete) body.destroy(new Error('the client broke off its request'))
  })
  // Whoever reads it is told; when nobody reads any more nobody has to be.
  body.on('error', () => undefined)
  return body
}

function toLines(raw: Dispatcher.DispatchController['rawHeaders']): readonly (string | Buffer)[] {
  return Array.isArray(raw) ? raw : []
}

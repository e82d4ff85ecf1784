import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { hasBody } from '../request/has-body.ts'
import type { Status } from '../status/status.ts'
import { createAnswerWriter, type Head } from './answer-writer.ts'
import { isStaleConnection, upstreamFailure } from './failure.ts'
import { answerHeaders, type HeaderLines } from './headers.ts'
import { isHeld, maxHeldBytes, type RefusalByBody } from './held-refusal.ts'
import type { HeaderBlock } from './request-head.ts'
import type { AnswerSink } from './upstream-connection.ts'
import type { Asked, Upstream } from './upstream-pool.ts'

export type Outgoing = {
  readonly connections: Pick<Upstream, 'ask'>
  /** Path and query, as they go on the wire. */
  readonly path: string
  readonly headers: HeaderLines
  /** Further ones, for all requests of this caller. */
  readonly block?: HeaderBlock
  /** Whether each piece of the answer is to be seen as it comes: a watch, a log that is followed. */
  readonly isLive: boolean
  /** Told that the answer has begun, and is not a refusal. */
  readonly begun?: () => void
  /** What does not answer when it does not, for the caller to read. */
  readonly upstream: string
  /** Why an answer is not handed on; undefined when it is. Without it every answer is. */
  readonly refusal?: (code: number, lines: HeaderLines) => Status | undefined
  /** The same for a 401 and a 403, by the body; one that is too large for a refusal is handed on. */
  readonly refusalByBody?: RefusalByBody
}

/** Whoever relays has an id on the answer already. */
const ours: ReadonlySet<string> = new Set(['audit-id'])
/** What frames an answer cannot be said behind it (RFC 9110 section 6.5.1). */
const noTrailers: ReadonlySet<string> = new Set(['content-length', 'host', 'audit-id'])

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
  let asked: Asked | undefined
  let isOver = false
  let isSecondTry = false
  let held: { readonly head: Head; body: string } | undefined

  const answer = createAnswerWriter(req, res, {
    isLive: outgoing.isLive,
    wait() {
      asked?.pause()
      res.once('drain', () => asked?.resume())
    },
  })
  function release(): void {
    if (held === undefined) return
    answer.begin(held.head)
    answer.write(held.body)
    held = undefined
  }
  function refuse(refused: Status): void {
    isOver = true
    body?.destroy()
    reject(refused)
  }
  function failed(error: unknown): void {
    const isUnheard = !answer.hasBegun() && held === undefined && !res.destroyed
    if (isUnheard && isRepeatable && !isSecondTry && isStaleConnection(error)) {
      isSecondTry = true
      start()
      return
    }
    isOver = true
    body?.destroy()
    // A broken answer must not look like a short one.
    if (res.headersSent) res.destroy()
    if (res.destroyed) resolve()
    else reject(upstreamFailure(outgoing.upstream, error))
  }
  const sink: AnswerSink = {
    begin({ code, message, lines: given }) {
      const lines = answerHeaders(given, ours)
      const head = { code, message, lines }
      const refused = outgoing.refusal?.(code, lines)
      if (refused !== undefined) {
        asked?.abort()
        refuse(refused)
      } else if (isHeld(code) && outgoing.refusalByBody !== undefined) held = { head, body: '' }
      else {
        if (code < 300) outgoing.begun?.()
        answer.begin(head)
      }
    },
    data(bytes) {
      if (held === undefined) return answer.write(bytes)
      held.body += bytes
      if (held.body.length > maxHeldBytes) release()
    },
    end(trailers) {
      const refused = held && outgoing.refusalByBody?.(held.head.code, Buffer.from(held.body, 'latin1'))
      if (refused !== undefined) return refuse(refused)
      release()
      isOver = true
      // An early answer: nobody is left to read the rest.
      body?.destroy()
      answer.end(answerHeaders(trailers, noTrailers))
      resolve()
    },
    failed,
  }
  const method = req.method ?? 'GET'
  const { path, headers, block } = outgoing
  function start(): void {
    try {
      asked = outgoing.connections.ask({ method, path, headers, block, body }, sink)
    } catch (error) {
      failed(error)
    }
  }

  res.once('close', () => {
    if (isOver) return
    isOver = true
    asked?.abort()
    body?.destroy()
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
  if (!hasBody(req)) return null
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

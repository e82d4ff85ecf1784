import type { Readable } from 'node:stream'
import type { AnswerHead } from './answer-head.ts'
import { createAnswerReader } from './answer-reader.ts'
import type { HeaderLines } from './headers.ts'
import { type BodySender, sendBody } from './request-body.ts'
import type { RequestHead } from './request-head.ts'
import { upstreamError } from './upstream-error.ts'
import { connectTo, type UpstreamTarget } from './upstream-target.ts'

/** Who is told of an answer as it comes. There is one end: `end` or `failed`. */
export type AnswerSink = {
  readonly begin: (head: AnswerHead) => void
  /** @param bytes as latin1 */
  readonly data: (bytes: string) => void
  readonly end: (trailers: HeaderLines) => void
  readonly failed: (error: Error) => void
}

export type Job = {
  readonly method: string
  readonly head: RequestHead
  readonly body: Readable | null
  readonly sink: AnswerSink
  /** Whether the sink has been told of an end, or is to be told no more. */
  isOver: boolean
}

export type Connection = {
  readonly send: (job: Job) => void
  readonly pause: () => void
  readonly resume: () => void
  /** Ends it at once; whoever waits for an answer is told why. */
  readonly drop: (error?: Error) => void
  /** Looks whether something takes too long; called about every second. */
  readonly look: (now: number) => void
}

export type ConnectionEvents = {
  /** It can take another request. */
  readonly free: () => void
  readonly gone: () => void
}

// Read into by all connections: what came in is copied before the next is read.
const inbox = Buffer.allocUnsafeSlow(64 * 1024)
const keepAliveMs = 60_000

/** Opens one HTTP/1.1 connection, which carries one request at a time. */
export function openConnection(target: UpstreamTarget, { free, gone }: ConnectionEvents): Connection {
  let job: Job | undefined
  let sender: BodySender | undefined
  let state: 'connecting' | 'asked' | 'answering' | 'idle' | 'gone' = 'connecting'
  let isPaused = false
  let idleMs = target.idleMs
  let since = performance.now()

  const reader = createAnswerReader(target.maxHeadBytes, {
    head(head) {
      state = 'answering'
      idleMs = Math.min(target.idleMs, head.idleMs)
      job?.sink.begin(head)
    },
    data: bytes => job?.sink.data(bytes),
    end(trailers, isClean) {
      const done = job
      job = undefined
      if (done) done.isOver = true
      // The next answer is to be read again, whoever was too slow for this one.
      if (isPaused) resume()
      // An early answer leaves a request that has no end: nothing can follow it.
      const isReusable = isClean && idleMs > 0 && (sender === undefined || sender.isSent())
      sender?.stop()
      sender = undefined
      state = 'idle'
      since = performance.now()
      if (!isReusable) drop()
      done?.sink.end(trailers)
      if (isReusable) free()
    },
  })

  const onread = {
    buffer: inbox,
    callback(size: number): boolean {
      since = performance.now()
      try {
        reader.take(inbox.subarray(0, size))
      } catch (error) {
        drop(toError(error))
      }
      return !isPaused
    },
  }
  const socket = connectTo(target, onread, () => {
    if (state === 'gone') return
    state = 'idle'
    if (job === undefined) free()
    else begin(job)
  })
  socket.setNoDelay(true)
  // A watch may have nothing to say for hours; a peer that is gone must show all the same.
  socket.setKeepAlive(true, keepAliveMs)
  socket.on('error', error => drop(error))
  const closed = () => drop(upstreamError('UPSTREAM_CLOSED', 'the upstream closed the connection'))
  socket.on('end', () => {
    // That is the end of an answer that says no other.
    reader.close()
    // And of the connection: a request that is given to it before it is closed would be lost.
    closed()
  })
  socket.on('close', closed)

  function begin({ method, head, body }: Job): void {
    state = 'asked'
    since = performance.now()
    reader.expect(method)
    if (body === null) socket.write(head.text, 'latin1')
    else sender = sendBody(socket, head, body, drop)
  }

  function drop(error?: Error): void {
    if (state === 'gone') return
    state = 'gone'
    reader.stop()
    sender?.stop()
    socket.destroy()
    const lost = job
    job = undefined
    gone()
    if (lost === undefined || lost.isOver) return
    lost.isOver = true
    lost.sink.failed(error ?? upstreamError('UPSTREAM_CLOSED', 'this side closed the connection'))
  }

  function resume(): void {
    isPaused = false
    since = performance.now()
    socket.resume()
  }

  function overdue(waited: number): Error | undefined {
    if (state === 'connecting' && isOver(waited, target.connectMs))
      return upstreamError('UPSTREAM_CONNECT_TIMEOUT', 'no connection in time')
    if (state === 'asked' && isOver(waited, target.headMs))
      return upstreamError('UPSTREAM_HEAD_TIMEOUT', 'no answer in time')
    if (state === 'answering' && isOver(waited, target.bodyMs))
      return upstreamError('UPSTREAM_BODY_TIMEOUT', 'no more of the answer in time')
    return undefined
  }

  return {
    send(given) {
      job = given
      if (state !== 'connecting') begin(given)
    },
    pause() {
      isPaused = true
      socket.pause()
    },
    resume,
    drop,
    look(now) {
      const isSending = state === 'asked' && sender !== undefined && !sender.isSent()
      // It is the client who takes its time.
      if (isPaused || (isSending && !sender?.isBlocked())) since = now
      const error = overdue(now - since)
      if (error !== undefined) drop(error)
      else if (state === 'idle' && now - since > idleMs) drop()
    },
  }
}

function isOver(waited: number, limitMs: number): boolean {
  return limitMs > 0 && waited > limitMs
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

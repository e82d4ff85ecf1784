import type { Readable } from 'node:stream'
import type { HeaderLines } from './headers.ts'
import { type HeaderBlock, toRequestHead } from './request-head.ts'
import { type AnswerSink, type Connection, type Job, openConnection } from './upstream-connection.ts'
import { upstreamError } from './upstream-error.ts'
import type { UpstreamTarget } from './upstream-target.ts'

export type UpstreamRequest = {
  readonly method: string
  /** Path and query, as they go on the wire. */
  readonly path: string
  readonly headers: HeaderLines
  /** Goes behind them. */
  readonly block?: HeaderBlock | undefined
  /** Of the length that a Content-Length among the headers says; in chunks without one. */
  readonly body: Readable | null
}

/** A request that was sent or waits for a connection. Once it has ended, all of these do nothing. */
export type Asked = {
  /** Lets the rest of the answer wait. */
  readonly pause: () => void
  readonly resume: () => void
  /** Takes the request back; nobody is told any more. */
  readonly abort: () => void
}

export type Upstream = {
  /**
   * Sends a request and tells `sink` of the answer, never before this returns.
   *
   * @throws Error REQUEST_INVALID when it cannot be written down; UPSTREAM_CLOSED after `destroy`
   */
  readonly ask: (request: UpstreamRequest, sink: AnswerSink) => Asked
  /** Ends what is idle now and the rest with its answers. */
  readonly close: () => void
  /** Ends all at once. */
  readonly destroy: () => void
}

type Entry = { readonly job: Job; connection?: Connection }

/**
 * Keeps HTTP/1.1 connections to one upstream and sends each request on one of them, the one that was used last: few stay open,
 * and those are warm. Beyond the limit requests wait for their turn.
 *
 * @param limit connections at most
 */
export function createUpstreamPool(target: UpstreamTarget, limit: number): Upstream {
  const idle: Connection[] = []
  const all = new Set<Connection>()
  const waiting = new Set<Entry>()
  let isClosing = false
  let isDestroyed = false
  let timer: NodeJS.Timeout | undefined

  function open(): Connection {
    const connection = openConnection(target, {
      free() {
        const [next] = waiting
        if (next !== undefined) return start(next, connection)
        if (isClosing) return connection.drop()
        idle.push(connection)
      },
      gone() {
        all.delete(connection)
        const at = idle.indexOf(connection)
        if (at >= 0) idle.splice(at, 1)
        if (all.size === 0) clearInterval(timer)
        // Its place is free, whatever has become of it.
        const [next] = waiting
        if (next !== undefined) start(next, open())
      },
    })
    if (all.size === 0) timer = setInterval(look, lookEveryMs(target)).unref()
    all.add(connection)
    return connection
  }

  function look(): void {
    const now = performance.now()
    for (const connection of all) connection.look(now)
  }

  function start(entry: Entry, connection: Connection): void {
    waiting.delete(entry)
    entry.connection = connection
    connection.send(entry.job)
  }

  return {
    ask({ method, path, headers, block, body }, sink) {
      if (isDestroyed) throw shutDown()
      const head = toRequestHead({ method, path, headers, block, hasBody: body !== null }, target.url.host)
      const job: Job = { method, head, body, sink, isOver: false }
      const entry: Entry = { job }
      const connection = idle.pop() ?? (all.size < limit ? open() : undefined)
      if (connection === undefined) waiting.add(entry)
      else start(entry, connection)
      return {
        pause() {
          if (!job.isOver) entry.connection?.pause()
        },
        resume() {
          if (!job.isOver) entry.connection?.resume()
        },
        abort() {
          if (job.isOver) return
          job.isOver = true
          waiting.delete(entry)
          entry.connection?.drop()
        },
      }
    },
    close() {
      isClosing = true
      for (const connection of [...idle]) connection.drop()
    },
    destroy() {
      isDestroyed = true
      const forgotten = [...waiting]
      waiting.clear()
      for (const connection of [...all]) connection.drop(shutDown())
      for (const { job } of forgotten) {
        job.isOver = true
        job.sink.failed(shutDown())
      }
    },
  }
}

function shutDown(): Error {
  return upstreamError('UPSTREAM_CLOSED', 'this side is shutting down')
}

/** Often enough for the shortest of the times, and no oftener than needed. */
function lookEveryMs({ connectMs, headMs, bodyMs, idleMs }: UpstreamTarget): number {
  const shortest = Math.min(...[connectMs, headMs, bodyMs, idleMs].filter(ms => ms > 0))
  return Math.max(Math.min(shortest / 4, 1_000), 10)
}

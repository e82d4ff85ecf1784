import { Writable } from 'node:stream'
import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { badRequest, Status, toStatus } from '../../apierrors/status.ts'
import type { EventStream } from '../../httpserver/event-stream.ts'
import { drained } from '../../httpserver/respond.ts'
import type { SubscriptionMessage } from './message.ts'

/**
 * Starts a watch.
 *
 * @param open to be called once, for the stream of the events, with what response headers would say
 * @throws Status for a path that is not valid, not a watch, or not permitted
 */
export type StartWatch = (
  path: string,
  open: (headers: Readonly<Record<string, string | readonly string[]>>) => Writable,
) => Promise<void>

export type ConnectionOptions = {
  readonly out: Writable
  readonly start: StartWatch
  /** How long a client may read nothing before it is disconnected. */
  readonly stallMs: () => number
}

/** The most subscriptions of a connection, and the most messages that wait. */
export const maxSubscriptions = 100

const lineFeed = 0x0a

/**
 * Carries several watches over one connection. Each event has the id of its subscription as its
 * first member: `{"id":"pods","type":"ADDED","object":{…}}`. A subscription is answered with
 * SUBSCRIBED, ends with ENDED, and has its own backpressure: it waits while the client does not
 * read, and no subscription keeps another from its turn.
 */
export function createConnection(
  { frame }: Pick<EventStream, 'frame'>,
  { out, start, stallMs }: ConnectionOptions,
): { readonly receive: (message: () => SubscriptionMessage) => void } {
  const open = new Map<string, { end: () => void }>()
  const drain = createDrain(out, stallMs)
  let last = Promise.resolve()
  let waiting = 0

  const write = (event: Buffer) => out.destroyed || out.writableEnded || out.write(frame(event))
  const send = (message: object) => write(Buffer.from(`${JSON.stringify(message)}\n`))
  const fail = (id: string | undefined, error: unknown) =>
    send({ ...(id === undefined ? {} : { id }), type: 'ERROR', object: toKubeStatus(toStatus(error)) })
  out.once('close', () => {
    for (const { end } of [...open.values()]) end()
  })

  function subscribe({ id, path }: Extract<SubscriptionMessage, { type: 'SUBSCRIBE' }>): void {
    if (open.has(id)) throw badRequest(`the id ${JSON.stringify(id)} is in use`)
    if (open.size >= maxSubscriptions)
      throw new Status(429, 'TooManyRequests', `a connection has at most ${maxSubscriptions} subscriptions`)
    let stream: Writable | undefined
    const ended = () => {
      if (open.get(id) !== subscription) return
      open.delete(id)
      send({ id, type: 'ENDED' })
    }
    const subscription = {
      end() {
        stream?.destroy()
        ended()
      },
    }
    open.set(id, subscription)
    const openStream: Parameters<StartWatch>[1] = headers => {
      stream = toLines(id, write, drain)
      // Unsubscribed while the watch was starting; the id may be in use again.
      if (open.get(id) !== subscription) return stream.destroy()
      send({ id, type: 'SUBSCRIBED', headers })
      stream.once('close', ended)
      return stream
    }
    start(path, openStream)
      .then(() => {
        if (stream === undefined)
          throw badRequest('this path cannot be subscribed to: only kinds that Kapis caches are watched')
      })
      .catch((error: unknown) => {
        if (open.get(id) !== subscription) return
        fail(id, error)
        subscription.end()
      })
  }

  function unsubscribe(id: string): void {
    const subscription = open.get(id)
    if (subscription === undefined) throw badRequest(`no subscription has the id ${JSON.stringify(id)}`)
    subscription.end()
  }

  function handle(message: () => SubscriptionMessage): void {
    let id: string | undefined
    try {
      const asked = message()
      id = asked.id
      if (asked.type === 'SUBSCRIBE') subscribe(asked)
      else unsubscribe(id)
    } catch (error) {
      fail(id, error)
    }
  }

  return {
    receive(message) {
      if (out.destroyed || out.writableEnded) return
      // A client that does not read the answers must not make the server hold them.
      if (++waiting > maxSubscriptions) {
        out.destroy()
        return
      }
      last = last.then(drain).then(() => {
        waiting--
        if (!out.destroyed) handle(message)
      })
    },
  }
}

/** Resolves when the connection takes more, or is gone; one wait for all that wait. */
function createDrain(out: Writable, stallMs: () => number): () => Promise<void> {
  let waiting: Promise<void> | undefined
  return () => {
    if (out.destroyed || !out.writableNeedDrain) return Promise.resolve()
    waiting ??= drained(out, stallMs()).then(() => {
      waiting = undefined
    })
    return waiting
  }
}

/** A stream of JSON objects, one a line, that gives each the id as first member. */
function toLines(id: string, write: (line: Buffer) => boolean, drain: () => Promise<void>): Writable {
  const start = Buffer.from(`{"id":${JSON.stringify(id)},`)
  let parts: Buffer[] = []
  const sendLine = (end: Buffer) => {
    const line = parts.length === 0 ? end : Buffer.concat([...parts, end])
    parts = []
    write(Buffer.concat([start, line.subarray(1)]))
  }
  async function pass(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const found = chunk.indexOf(lineFeed, at)
      if (found < 0) {
        parts.push(chunk.subarray(at))
        return
      }
      await drain()
      sendLine(chunk.subarray(at, found + 1))
      at = found + 1
    }
  }
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      pass(chunk).then(() => done(), done)
    },
  })
}

import type { Writable } from 'node:stream'
import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { badRequest, Status, toStatus } from '../../apierrors/status.ts'
import type { EventStream } from '../../httpserver/response/event-stream.ts'
import { waitForDrain } from '../../httpserver/response/respond.ts'
import { createLineStream } from './line-stream.ts'
import type { SubscriptionMessage } from './message.ts'

/**
 * Starts a watch.
 *
 * @param open called once to open the stream of events, with the values that the response headers
 * would contain
 * @throws Status for a path that is not valid, not a watch, or not permitted
 */
export type StartWatch = (
  path: string,
  open: (headers: Readonly<Record<string, string | readonly string[]>>) => Writable,
) => Promise<void>

export type ConnectionOptions = {
  readonly out: Writable
  readonly start: StartWatch
  /** Timeout for the start of a watch. */
  readonly startMs: () => number
  /** Time after which a client that reads nothing is disconnected. */
  readonly stallMs: () => number
}

export type Connection = {
  /** Handles a message; resolves when the client has read the preceding responses. */
  readonly receive: (read: () => SubscriptionMessage) => Promise<void>
  /** Ends the connection after the events before it. */
  readonly end: () => void
}

/** Maximum number of subscriptions per connection. */
export const maxSubscriptions = 100

/**
 * Multiplexes several watches over one connection. The first field of each event is the id of its
 * subscription: `{"id":"pods","type":"ADDED","object":{…}}`. A subscription starts with SUBSCRIBED
 * and ends with ENDED. Its events wait while the client does not read; those of several
 * subscriptions are sent in turn.
 */
export function createConnection(
  { pieces }: Pick<EventStream, 'pieces'>,
  { out, start, startMs, stallMs }: ConnectionOptions,
): Connection {
  const open = new Map<string, { readonly end: () => void }>()
  let turn = Promise.resolve()

  /** Sends an event after the events before it, without copying large parts. */
  function write(parts: readonly Buffer[], isWanted = () => true): Promise<void> {
    turn = turn.then(async () => {
      if (!isWanted()) return
      for (const piece of pieces(parts)) {
        if (out.destroyed || out.writableEnded) return
        if (!out.write(piece)) await waitForDrain(out, stallMs())
      }
    })
    turn = turn.catch(() => void out.destroy())
    return turn
  }
  const send = (message: object) => void write([Buffer.from(`${JSON.stringify(message)}\n`)])
  const fail = (id: string | undefined, error: unknown) =>
    send({ ...(id === undefined ? {} : { id }), type: 'ERROR', object: toKubeStatus(toStatus(error)) })
  out.once('close', () => {
    for (const { end } of [...open.values()]) end()
  })

  function subscribe(id: string, path: string): void {
    if (open.has(id)) throw badRequest(`the id ${JSON.stringify(id)} is in use`)
    if (open.size >= maxSubscriptions)
      throw new Status(429, 'TooManyRequests', `a connection has at most ${maxSubscriptions} subscriptions`)
    let stream: Writable | undefined
    const isCurrent = () => open.get(id) === subscription
    const subscription = {
      end() {
        clearTimeout(timer)
        stream?.destroy()
        if (!isCurrent()) return
        open.delete(id)
        send({ id, type: 'ENDED' })
      },
    }
    open.set(id, subscription)
    const failed = (error: unknown) => {
      if (!isCurrent()) return
      fail(id, error)
      subscription.end()
    }
    const timer = setTimeout(() => failed(timedOut()), startMs())
    start(path, headers => {
      clearTimeout(timer)
      stream = createLineStream(id, write)
      // The subscription ended while its watch was starting; another may already have the same id.
      if (!isCurrent()) return stream.destroy()
      stream.once('close', subscription.end)
      send({ id, type: 'SUBSCRIBED', headers })
      return stream
    })
      .then(() => {
        if (stream === undefined)
          throw badRequest('this path cannot be subscribed to: only kinds that Kapis caches are watched')
      })
      .catch(failed)
  }

  function unsubscribe(id: string): void {
    const subscription = open.get(id)
    if (subscription === undefined)
      throw badRequest(`unknown id ${JSON.stringify(id)}: this connection has no such subscription`)
    subscription.end()
  }

  return {
    end() {
      turn = turn.then(() => void out.end())
    },
    async receive(read) {
      await turn
      if (out.destroyed || out.writableEnded) return
      let id: string | undefined
      try {
        const message = read()
        id = message.id
        if (message.type === 'SUBSCRIBE') subscribe(id, message.path)
        else unsubscribe(id)
      } catch (error) {
        fail(id, error)
      }
    },
  }
}

function timedOut(): Status {
  return new Status(504, 'Timeout', 'the watch did not start in time; retry')
}

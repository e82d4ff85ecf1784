import type { Writable } from 'node:stream'
import type { ObjectStore } from '../store/store.ts'
import type { WatchChange } from '../store/watch-window.ts'
import { LagGuard } from './slow-watchers.ts'
import {
  begin,
  Channel,
  type ChannelOptions,
  deliver,
  type Member,
  type SharedEvents,
} from './watch-channel.ts'

export type { ChannelOptions }

export type Watcher = {
  /** Writes the events before live ones, as fast as the client reads; live events are queued. */
  readonly begin: (events: Iterable<Buffer>) => Promise<void>
  /** @param opening encodes the first event of a watcher, if it differs from later ones */
  readonly write: (event: Buffer, opening?: () => Buffer) => void
  readonly leave: () => void
}

export type WatchBroadcasterOptions = {
  /** Returns the time after which a client that reads no buffered data is disconnected. */
  readonly stallMs: () => number
}

type Channels = {
  readonly byKey: Map<string, Channel>
  /** Channels with changes to encode, in the order of processing. */
  readonly ready: Set<Channel>
  readonly shared: SharedEvents
  isScheduled: boolean
  readonly unsubscribe: () => void
}

// A longer time slice would noticeably delay other requests.
const sliceMs = 8
const lookEveryMs = 1_000
const maxBehindBytes = 256 * 1024 * 1024

/** All watches of a kind: a change is encoded once per channel, for all its watchers. */
export class WatchBroadcaster {
  readonly #channels = new Map<ObjectStore, Channels>()
  readonly #open = new Map<Writable, () => void>()
  readonly #guard: LagGuard
  /** Returns the time after which a client that reads no buffered data is disconnected. */
  readonly stallMs: () => number
  #timer: NodeJS.Timeout | undefined
  #watchers = 0

  constructor({ stallMs }: WatchBroadcasterOptions = { stallMs: () => 60_000 }) {
    this.stallMs = stallMs
    this.#guard = new LagGuard({ stallMs, maxBytes: maxBehindBytes })
  }

  get size(): number {
    return this.#watchers
  }

  /**
   * Registers a watch before its first state is available, so that close() ends it too.
   *
   * @param end ends the watch, but not within an event
   */
  register(out: Writable, end: () => void): void {
    if (this.#open.has(out)) return
    this.#open.set(out, end)
    out.once('close', () => this.#open.delete(out))
  }

  /** @param end ends the watch, but not within an event */
  join(store: ObjectStore, options: ChannelOptions, out: Writable, end: () => void): Watcher {
    const channels = this.#channelsOf(store)
    const { byKey } = channels
    const channel = byKey.get(options.key) ?? new Channel(options)
    byKey.set(options.key, channel)
    // Queued changes are flushed first: the initial state of this watcher includes them.
    channel.flush()
    const member: Member = {
      ...{ out, end, waiting: [], waitingBytes: 0, opening: undefined },
      ...{ isOpened: false, writtenBytes: 0 },
    }
    channel.members.add(member)
    this.register(out, end)
    this.#watchers++
    this.#timer ??= setInterval(() => this.#guard.check(this.#all()), lookEveryMs).unref()
    return {
      begin: events => begin(member, events),
      write: (event, make) => {
        // A bookmark must not overtake earlier events.
        channel.flush()
        deliver(member, event, make && { bytes: event.length, make })
      },
      leave: () => {
        if (!channel.members.delete(member)) return
        this.#watchers--
        if (channel.members.size > 0) return
        channel.end()
        channels.ready.delete(channel)
        byKey.delete(options.key)
        // Without watchers, the kind may be removed from the cache.
        if (byKey.size > 0) return
        channels.unsubscribe()
        this.#channels.delete(store)
        if (this.#channels.size > 0) return
        clearInterval(this.#timer)
        this.#timer = undefined
      },
    }
  }

  /** Ends every watch regularly; clients resume at another replica from their last version. */
  close(): void {
    for (const channel of this.#all()) channel.flush()
    for (const end of [...this.#open.values()]) end()
  }

  *#all(): Generator<Channel> {
    for (const { byKey } of this.#channels.values()) yield* byKey.values()
  }

  #channelsOf(store: ObjectStore): Channels {
    const found = this.#channels.get(store)
    if (found) return found
    const channels: Channels = {
      ...{ byKey: new Map(), ready: new Set(), shared: new Map(), isScheduled: false },
      unsubscribe: store.subscribe({
        changed: changes => broadcast(channels, changes),
        reset: () => endAll(channels),
      }),
    }
    this.#channels.set(store, channels)
    return channels
  }
}

function broadcast(channels: Channels, changes: readonly WatchChange[]): void {
  for (const channel of channels.byKey.values()) {
    channel.add(changes)
    channels.ready.add(channel)
  }
  if (!channels.isScheduled) encodeReady(channels)
}

/** Encodes for one channel after another, yielding in between, as there may be many. */
function encodeReady(channels: Channels): void {
  const { ready, shared } = channels
  const since = performance.now()
  channels.isScheduled = false
  for (const channel of ready) {
    ready.delete(channel)
    channel.encode(shared)
    if (ready.size === 0 || performance.now() - since < sliceMs) continue
    channels.isScheduled = true
    setImmediate(encodeReady, channels)
    return
  }
  shared.clear()
}

function endAll({ byKey }: Channels): void {
  for (const channel of [...byKey.values()]) {
    channel.flush()
    for (const { end } of [...channel.members]) end()
  }
}

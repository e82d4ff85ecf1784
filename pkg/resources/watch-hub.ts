import type { Writable } from 'node:stream'
import { createPacedWriter } from '../request/respond.ts'
import type { Collection } from './collection.ts'
import type { Entry } from './entry.ts'
import type { Change } from './history.ts'
import type { Encoder } from './watch-encoder.ts'

/** What watchers of one channel have in common. */
export type ChannelOptions = {
  readonly key: string
  readonly matches: (entry: Entry) => boolean
  readonly encoder: Encoder
}

export type Watcher = {
  /** Writes what comes before live events, at the client's pace; live events wait behind it. */
  readonly begin: (events: Iterable<Buffer>) => Promise<void>
  /** @param opening how the event is told to who has been told nothing yet, when that is another way */
  readonly write: (event: Buffer, opening?: () => Buffer) => void
  readonly leave: () => void
}

/** What stands for the first `bytes` of some events when they are the first that a watcher is told. */
type Opening = { readonly bytes: number; readonly make: () => Buffer }

type Channel = ChannelOptions & {
  readonly members: Set<Member>
  /** Events that wait to be written together with those that follow them. */
  pending: Buffer[]
  pendingBytes: number
  /** Of the first that is pending. */
  opening: Opening | undefined
  timer: NodeJS.Timeout | undefined
  wroteAtMs: number
}
type Channels = { readonly byKey: Map<string, Channel>; readonly unsubscribe: () => void }
type Member = {
  readonly out: Writable
  waiting: Buffer[] | undefined
  waitingBytes: number
  /** Of the first that is waiting. */
  opening: Opening | undefined
  isTold: boolean
}

// What many watchers are told is dear by the number of writes, of which each takes some 15 us. The first event goes out at
// once; those that follow it closely go together, so that no more than a quarter of the time goes into telling. Few watchers
// never wait, many not longer than one notices, and nobody for a write that is dear by its bytes.
const together = { members: 64, msEach: 0.06, mostMs: 250, bytes: 256 * 1024 }
// A client that is this far behind gets its connection cut and resumes from its last version, instead of filling memory.
const maxBehindBytes = 16 * 1024 * 1024

/** All watches of all collections: each change is encoded once for every channel and written to its members in one go. */
export class WatchHub {
  readonly #channels = new Map<Collection, Channels>()
  readonly #open = new Set<Writable>()
  #watchers = 0

  get size(): number {
    return this.#watchers
  }

  /** Counts a watch in from its first moment, so that close() ends it even while it waits for its first state. */
  admit(out: Writable): void {
    if (this.#open.has(out)) return
    this.#open.add(out)
    out.once('close', () => this.#open.delete(out))
  }

  join(collection: Collection, options: ChannelOptions, out: Writable): Watcher {
    const channels = this.#channelsOf(collection)
    const channel = channels.get(options.key) ?? toChannel(options)
    channels.set(options.key, channel)
    // The state that this watcher begins with holds what is still to be written to the others.
    flush(channel)
    const member: Member = { out, waiting: [], waitingBytes: 0, opening: undefined, isTold: false }
    channel.members.add(member)
    this.admit(out)
    this.#watchers++
    return {
      begin: events => begin(member, events),
      write: (event, make) => {
        // A bookmark must not overtake what it is about.
        flush(channel)
        deliver(member, event, make && { bytes: event.length, make })
      },
      leave: () => {
        if (!channel.members.delete(member)) return
        this.#watchers--
        if (channel.members.size > 0) return
        channels.delete(options.key)
        clearTimeout(channel.timer)
        // A collection that nobody watches may be let go.
        if (channels.size > 0) return
        this.#channels.get(collection)?.unsubscribe()
        this.#channels.delete(collection)
      },
    }
  }

  /** Ends every watch cleanly; clients resume elsewhere from their last version. */
  close(): void {
    for (const { byKey } of this.#channels.values()) for (const channel of byKey.values()) flush(channel)
    for (const out of [...this.#open]) out.end()
  }

  #channelsOf(collection: Collection): Map<string, Channel> {
    const found = this.#channels.get(collection)
    if (found) return found.byKey
    const byKey = new Map<string, Channel>()
    const unsubscribe = collection.subscribe({
      changed: changes => {
        for (const channel of byKey.values()) broadcast(channel, changes)
      },
      reset: () => endAll(byKey),
    })
    this.#channels.set(collection, { byKey, unsubscribe })
    return byKey
  }
}

function broadcast(channel: Channel, changes: readonly Change[]): void {
  const { encoder, matches } = channel
  const { opening } = encoder
  for (const change of changes) {
    const event = encoder.change(change, matches)
    if (event === undefined) continue
    if (opening && channel.pending.length === 0) {
      channel.opening = { bytes: event.length, make: () => opening.change(change, matches) ?? event }
    }
    channel.pending.push(event)
    channel.pendingBytes += event.length
    if (channel.pendingBytes >= together.bytes) flush(channel)
  }
  if (channel.pending.length === 0) return
  const waitMs = channel.wroteAtMs + togetherMs(channel.members.size) - performance.now()
  if (waitMs <= 0) flush(channel)
  else channel.timer ??= setTimeout(flush, waitMs, channel)
}

/** How long after an event those that follow wait for each other, in milliseconds. */
function togetherMs(members: number): number {
  return members < together.members ? 0 : Math.min(members * together.msEach, together.mostMs)
}

function flush(channel: Channel): void {
  clearTimeout(channel.timer)
  channel.timer = undefined
  const [first, second] = channel.pending
  if (first === undefined) return
  const { opening } = channel
  const joined = second === undefined ? first : Buffer.concat(channel.pending)
  channel.pending = []
  channel.pendingBytes = 0
  channel.opening = undefined
  channel.wroteAtMs = performance.now()
  for (const member of channel.members) deliver(member, joined, opening)
}

function toChannel(options: ChannelOptions): Channel {
  return {
    ...options,
    members: new Set(),
    pending: [],
    pendingBytes: 0,
    opening: undefined,
    timer: undefined,
    wroteAtMs: 0,
  }
}

function deliver(member: Member, event: Buffer, opening: Opening | undefined): void {
  const { out } = member
  if (out.destroyed || out.writableEnded) return
  if (out.writableLength + member.waitingBytes + event.length > maxBehindBytes) {
    out.destroy()
    return
  }
  if (member.waiting === undefined) {
    tell(member, event, opening)
    return
  }
  if (member.waiting.length === 0) member.opening = opening
  member.waiting.push(event)
  member.waitingBytes += event.length
}

function tell(member: Member, events: Buffer, opening: Opening | undefined): void {
  const isOpening = opening !== undefined && !member.isTold
  member.out.write(isOpening ? Buffer.concat([opening.make(), events.subarray(opening.bytes)]) : events)
  member.isTold = true
}

async function begin(member: Member, events: Iterable<Buffer>): Promise<void> {
  const { out } = member
  const write = createPacedWriter(out)
  for (const event of events) {
    if (out.destroyed || out.writableEnded) return
    member.isTold = true
    await write(event)
  }
  const { waiting = [], opening } = member
  member.waiting = undefined
  member.waitingBytes = 0
  if (waiting.length > 0 && !out.destroyed && !out.writableEnded)
    tell(member, Buffer.concat(waiting), opening)
}

function endAll(channels: Map<string, Channel>): void {
  for (const channel of [...channels.values()]) {
    flush(channel)
    for (const { out } of [...channel.members]) out.end()
  }
}

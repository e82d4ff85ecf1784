import type { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createPacedWriter } from '../../httpserver/response/respond.ts'
import type { CachedObject } from '../store/cached-object.ts'
import type { WatchChange } from '../store/watch-window.ts'
import { type Encoder, type SelectedEvent, toSelectedEvent } from './watch-encoder.ts'

/** The selection and encoding that watchers of a channel share. */
export type ChannelOptions = {
  readonly key: string
  readonly matches: (entry: CachedObject) => boolean
  readonly encoder: Encoder
}

/** Replaces the first `bytes` bytes of the first event that a watcher receives. */
export type OpeningFrame = { readonly bytes: number; readonly make: () => Buffer }

export type Member = {
  readonly out: Writable
  /** Ends the watch, but not within an event. */
  readonly end: () => void
  waiting: Buffer[] | undefined
  waitingBytes: number
  /** Replacement for the start of the first event. */
  opening: OpeningFrame | undefined
  isOpened: boolean
  /** Number of bytes that were written to `out`. */
  writtenBytes: number
}

/** Encoded events that several channels share. */
export type SharedEvents = Map<WatchChange, Map<string, Buffer>>

// The number of writes dominates the cost, with about 15 µs each. The first event is sent
// immediately. Events that follow it closely are batched, so that writing takes at most a quarter
// of the time. With few watchers no event waits, and large events are never delayed.
const together = { members: 64, msEach: 0.06, maxMs: 250, bytes: 256 * 1024 }
// A client that is this far behind is disconnected and resumes from its last version, so that its
// events do not fill the memory.
const maxBehindBytes = 16 * 1024 * 1024
// Maximum number of changes that wait for encoding; the watch ends beyond it.
const maxUnencoded = 4_096
// A longer time slice would noticeably delay other requests.
const sliceMs = 4

/** Watchers with the same selection and encoding: each change is encoded once for all of them. */
export class Channel {
  readonly members = new Set<Member>()
  readonly #options: ChannelOptions
  #unencoded: WatchChange[] = []
  /** Encoded events that wait for the next batch. */
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** Replacement for the start of the first pending event. */
  #opening: OpeningFrame | undefined
  #timer: NodeJS.Timeout | undefined
  #wroteAtMs = 0

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  get key(): string {
    return this.#options.key
  }

  /** Number of bytes buffered for the slowest watcher; all watchers share the buffered data. */
  get behindBytes(): number {
    let most = 0
    for (const { out, waitingBytes } of this.members) most = Math.max(most, out.writableLength + waitingBytes)
    return most
  }

  add(changes: readonly WatchChange[]): void {
    for (const change of changes) this.#unencoded.push(change)
    if (this.#unencoded.length > maxUnencoded) for (const { out } of this.members) out.destroy()
  }

  /** Encodes new changes, and writes them immediately or in the next batch. */
  encode(shared: SharedEvents): void {
    const changes = this.#unencoded
    this.#unencoded = []
    for (const change of changes) this.#encode(change, shared)
    if (this.#pending.length === 0) return
    const waitMs = this.#wroteAtMs + togetherMs(this.members.size) - performance.now()
    if (waitMs <= 0) this.#write()
    else this.#timer ??= setTimeout(() => this.#write(), waitMs)
  }

  /** Writes all events that have been added. */
  flush(): void {
    if (this.#unencoded.length > 0) this.encode(new Map())
    this.#write()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  #encode(change: WatchChange, shared: SharedEvents): void {
    const { encoder, matches } = this.#options
    const selected = toSelectedEvent(change, matches)
    if (selected === undefined) return
    const event = sharedEvent(encoder, change, selected, shared)
    const { opening } = encoder
    if (opening && this.#pending.length === 0) {
      const make = () => opening.event(selected.type, selected.entry())
      this.#opening = { bytes: event.length, make }
    }
    this.#pending.push(event)
    this.#pendingBytes += event.length
    if (this.#pendingBytes >= together.bytes) this.#write()
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const events = this.#pending
    const opening = this.#opening
    // Small events are joined into one write; large ones, which channels share, are not copied.
    const joined =
      events.length > 1 && this.#pendingBytes < 2 * together.bytes ? [Buffer.concat(events)] : events
    this.#pending = []
    this.#pendingBytes = 0
    this.#opening = undefined
    if (events.length === 0) return
    this.#wroteAtMs = performance.now()
    for (const member of this.members)
      for (const [i, event] of joined.entries()) deliver(member, event, i === 0 ? opening : undefined)
  }
}

function sharedEvent(
  { name, event }: Encoder,
  change: WatchChange,
  selected: SelectedEvent,
  shared: SharedEvents,
): Buffer {
  const known = shared.get(change) ?? new Map<string, Buffer>()
  shared.set(change, known)
  const key = `${selected.type} ${selected.isTerminating} ${name}`
  const found = known.get(key)
  if (found !== undefined) return found
  const made = event(selected.type, selected.entry())
  known.set(key, made)
  return made
}

/** Returns the time for which events are batched after the first one, in milliseconds. */
function togetherMs(members: number): number {
  return members < together.members ? 0 : Math.min(members * together.msEach, together.maxMs)
}

/** Writes an event to a watcher, or queues it. A watcher that is too far behind is disconnected. */
export function deliver(member: Member, event: Buffer, opening: OpeningFrame | undefined): void {
  const { out } = member
  if (out.destroyed || out.writableEnded) return
  if (out.writableLength + member.waitingBytes + event.length > maxBehindBytes) {
    out.destroy()
    return
  }
  if (member.waiting === undefined) {
    writeEvents(member, event, opening)
    return
  }
  if (member.waiting.length === 0) member.opening = opening
  member.waiting.push(event)
  member.waitingBytes += event.length
}

function writeEvents(member: Member, events: Buffer, opening: OpeningFrame | undefined): void {
  const isOpening = opening !== undefined && !member.isOpened
  const bytes = isOpening ? Buffer.concat([opening.make(), events.subarray(opening.bytes)]) : events
  member.writtenBytes += bytes.length
  member.out.write(bytes)
  member.isOpened = true
}

/** Writes the events before live ones, as fast as the client reads; live events are queued. */
export async function begin(member: Member, events: Iterable<Buffer>): Promise<void> {
  const { out } = member
  const write = createPacedWriter(out)
  let since = performance.now()
  for (const event of events) {
    if (out.destroyed || out.writableEnded) return
    if (event.length > 0) {
      member.isOpened = true
      member.writtenBytes += event.length
      await write(event)
    }
    if (performance.now() - since < sliceMs) continue
    await nextTurn()
    since = performance.now()
  }
  const { waiting = [], opening } = member
  member.waiting = undefined
  member.waitingBytes = 0
  if (waiting.length === 0 || out.destroyed || out.writableEnded) return
  writeEvents(member, Buffer.concat(waiting), opening)
}

import { randomInt, randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import { expired } from '../../apierrors/status.ts'
import type { EventStream } from '../../httpserver/response/event-stream.ts'
import { pieceBytes } from '../../httpserver/response/respond.ts'
import { confirmSoon, waitForLatest, waitForVersion } from '../informer/wait-for-resource-version.ts'
import { followVisibility } from '../list/follow-visibility.ts'
import {
  assertCurrent,
  isCurrent,
  type ObjectVisibility,
  recordVisibleFrom,
  visibilityChanged,
} from '../list/object-visibility.ts'
import type { CachedObject } from '../store/cached-object.ts'
import { entriesWithin } from '../store/chunk.ts'
import type { ObjectStore } from '../store/store.ts'
import type { WatchChange } from '../store/watch-window.ts'
import type { WatchBroadcaster } from './watch-broadcaster.ts'
import {
  type Encoder,
  type EventEncoder,
  type EventType,
  encodeError,
  openingOnce,
  toFramed,
  toSelectedEvent,
} from './watch-encoder.ts'
import { createWatchEnd, type WatchEnd } from './watch-end.ts'

/** The options of a watch, as in metav1.ListOptions. */
export type WatchOptions = {
  /** '' for the most recent state, '0' for any state. */
  readonly resourceVersion: string
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  /** Timeout in seconds; 0 for the default of the server. */
  readonly timeoutSeconds: number
}

export type WatchRequest = {
  readonly options: WatchOptions
  readonly matches: (entry: CachedObject) => boolean
  readonly encoder: Encoder
  /** Watchers with the same key have the same selection and encoding, and share the work. */
  readonly channelKey: string
  /** Restricts a watch, which is then not shared, to what the caller may see. */
  readonly visible?: ObjectVisibility | undefined
  /** Whether the initial state of a watch without a version may be as old as the cache. */
  readonly isCached?: boolean
  readonly stream: EventStream
}

// kube-apiserver ends a watch after 30 to 60 minutes. The random duration prevents all clients from
// reconnecting simultaneously.
const defaultSeconds = { min: 1_800, max: 3_600 }
const bookmarkEveryMs = 60_000
// A bookmark before the timeout lets the client resume without a gap.
const bookmarkBeforeEndMs = 2_000
// A longer time slice would noticeably delay other requests.
const sliceMs = 2

/**
 * Serves a watch: sends the headers immediately, then the events since the start version, then
 * every change. The timeout, the client or the server ends it. The stream is never compressed; each
 * event is a JSON object and a line feed, or a WebSocket message.
 */
export async function serveWatch(
  store: ObjectStore,
  broadcaster: WatchBroadcaster,
  request: WatchRequest,
): Promise<void> {
  const { options, stream } = request
  const from = options.resourceVersion
  // KEP-3157: "" requests the latest state. Without initial events any state is accepted, as in the
  // watch cache of kube-apiserver.
  if (options.sendInitialEvents === true) {
    if (from === '' && request.isCached !== true) await waitForLatest(store)
    await waitForVersion(store, from)
  }
  if (beginsWithState(options)) await recordVisibleFrom(store, request.visible)
  else if (Number(from) > 0 && request.visible?.fixed?.unfollowed) throw request.visible.fixed.unfollowed
  assertCurrent(request.visible)
  if (stream.isGone()) return
  const out = stream.open()
  const watchEnd = createWatchEnd(out)
  broadcaster.register(out, watchEnd.end)
  const gone = new AbortController()
  out.once('close', () => gone.abort())
  const endAtMs = performance.now() + watchMs(options)
  const timer = setTimeout(watchEnd.end, endAtMs - performance.now())
  out.once('close', () => clearTimeout(timer))
  // A version from another replica may be newer than this store: the client has already received
  // the events up to that version.
  if (Number(from) > store.version) {
    confirmSoon(store)
    await store.waitFor(Number(from), endAtMs - performance.now(), gone.signal)
  }
  if (!out.destroyed && !out.writableEnded) {
    const encoder = toFramed(request.encoder, stream)
    await follow(store, broadcaster, { ...request, encoder, endAtMs, out, watchEnd })
  }
}

type FollowedWatch = WatchRequest & {
  readonly endAtMs: number
  readonly out: Writable
  readonly watchEnd: WatchEnd
}

async function follow(
  store: ObjectStore,
  broadcaster: WatchBroadcaster,
  request: FollowedWatch,
): Promise<void> {
  const { options, stream, out, encoder, watchEnd } = request
  const visible = request.visible?.isAll ? undefined : request.visible
  // The kind may have been removed during the wait.
  if (store.isEnded) return void out.end()
  const matches = visible
    ? (entry: CachedObject) => request.matches(entry) && visible.has(entry)
    : request.matches
  const end = (message: string) => stream.frame(encodeError(expired(message)))
  const visibility = visible?.fixed
  // The permissions may have changed while the watch waited for a version.
  if (!isCurrent(request.visible)) return void out.end(end(visibilityChanged))
  const from = Number(options.resourceVersion)
  if (visibility && from > 0 && !beginsWithState(options) && from < (visibility.versionShown() ?? Infinity))
    return void out.end(end(visibilityChanged))
  let hasChanged = false
  const isShown = () => {
    // Remains true after permissions are restored: objects may have been hidden in between.
    hasChanged ||= !isCurrent(request.visible)
    return !hasChanged
  }
  const first = firstEvents(store, { ...request, matches }, () => isShown() && !watchEnd.isDue())
  if (first === undefined)
    return void out.end(end(`too old resource version: ${options.resourceVersion} (${store.horizon})`))
  // The watch joins in the event-loop turn in which the state was read: no event is missed.
  const channel = `${stream.name} ${request.channelKey}`
  const key = visible ? `${channel} ${visibility ? visible.key : randomUUID()}` : channel
  const watcher = broadcaster.join(store, { key, matches, encoder }, out, watchEnd.end)
  const { opening } = encoder
  const send = (encode: (encoder: EventEncoder) => Buffer) =>
    watcher.write(encode(encoder), opening && (() => encode(opening)))
  let isBegun = false
  const endChanged = () => {
    hasChanged = true
    // Pending events may contain objects that are now hidden.
    if (isBegun && !out.writableEnded) out.end(end(visibilityChanged))
  }
  function* beginning(events: Iterable<Buffer>): Generator<Buffer> {
    watchEnd.hold()
    yield* events
    isBegun = true
    if (!isShown()) {
      yield end(visibilityChanged)
      watchEnd.end()
    }
    watchEnd.release()
  }
  const unsubscribe = visibility
    ? visible?.onChange(endChanged)
    : visible
      ? followVisibility(store, visible, {
          matches: request.matches,
          out,
          send: (type, entry) => send(({ event }) => event(type, entry)),
        })
      : // If the caller may no longer see all objects, the rest follows with the next list.
        request.visible?.onChange(watchEnd.end)
  const stopBookmarks = startBookmarks(request, () => send(({ bookmark }) => bookmark(store.version, false)))
  out.once('close', () => {
    stopBookmarks()
    unsubscribe?.()
    watcher.leave()
  })
  await watcher.begin(beginning(first))
}

/** Returns the events before live ones; undefined if the start version is too old. */
function firstEvents(
  store: ObjectStore,
  { options, matches, encoder, visible }: FollowedWatch,
  goesOn: () => boolean,
): Iterable<Buffer> | undefined {
  const encodeInitial = openingOnce(encoder)
  const { resourceVersion } = options
  if (beginsWithState(options)) {
    const { version } = store
    const state = stepsWhile(
      goesOn,
      addedEvents(entriesWithin(store.snapshot(), visible?.namespaces), matches),
    )
    // Clients that accept bookmarks are notified of the end of the initial events (KEP-3157).
    return encodeAll(state, encodeInitial, () =>
      options.allowWatchBookmarks && goesOn() ? encodeInitial.bookmark(version, true) : undefined,
    )
  }
  // Without a version, sendInitialEvents=false starts with the next change.
  if (resourceVersion === '' || resourceVersion === '0') return []
  const missed = store.since(Number(resourceVersion))
  return (
    missed && encodeAll(stepsWhile(goesOn, changedEvents(missed, matches)), encodeInitial, () => undefined)
  )
}

function beginsWithState({ resourceVersion, sendInitialEvents }: WatchOptions): boolean {
  return sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0')
}

type Event = { readonly type: EventType; readonly entry: CachedObject }

/** An event; undefined for an object that is not selected. There may be very many of these. */
type Step = Event | undefined

function* addedEvents(
  entries: Iterable<CachedObject>,
  matches: (entry: CachedObject) => boolean,
): Generator<Step> {
  for (const entry of entries) yield matches(entry) ? { type: 'ADDED', entry } : undefined
}

function* changedEvents(
  changes: readonly WatchChange[],
  matches: (entry: CachedObject) => boolean,
): Generator<Step> {
  for (const change of changes) {
    const selected = toSelectedEvent(change, matches)
    yield selected && { type: selected.type, entry: selected.entry() }
  }
}

/** Stops between two events, so that none is truncated. */
function* stepsWhile(goesOn: () => boolean, steps: Iterable<Step>): Generator<Step> {
  for (const step of steps) {
    if (step !== undefined && !goesOn()) return
    yield step
  }
}

/**
 * Joins small events, and splits large ones: only one chunk per watch is buffered for a slow
 * client. A chunk, possibly empty, is returned at least every few milliseconds.
 */
function* encodeAll(
  steps: Iterable<Step>,
  { event, pieces }: EventEncoder,
  last: () => Buffer | undefined,
): Generator<Buffer> {
  let small: Buffer[] = []
  let length = 0
  let since = performance.now()
  for (const step of steps) {
    if (step === undefined) {
      if (performance.now() - since < sliceMs) continue
      yield Buffer.concat(small)
      small = []
      length = 0
      since = performance.now()
      continue
    }
    const { type, entry } = step
    const isLarge = pieces !== undefined && entry.tail.length >= pieceBytes
    if (!isLarge) {
      const encoded = event(type, entry)
      small.push(encoded)
      length += encoded.length
    }
    const isDue = performance.now() - since >= sliceMs
    if (length > 0 && (isLarge || length >= pieceBytes || isDue)) {
      yield Buffer.concat(small)
      small = []
      length = 0
      since = performance.now()
    }
    if (isLarge) yield* pieces(type, entry)
  }
  const end = last()
  if (end !== undefined) small.push(end)
  if (small.length > 0) yield Buffer.concat(small)
}

function startBookmarks(request: FollowedWatch, bookmark: () => void): () => void {
  if (!request.options.allowWatchBookmarks) return () => undefined
  const timers = [setInterval(bookmark, bookmarkEveryMs)]
  const lastMs = request.endAtMs - performance.now() - bookmarkBeforeEndMs
  if (lastMs > 0) timers.push(setTimeout(bookmark, lastMs))
  return () => {
    for (const timer of timers) clearTimeout(timer)
  }
}

function watchMs({ timeoutSeconds }: WatchOptions): number {
  const seconds = timeoutSeconds || randomInt(defaultSeconds.min, defaultSeconds.max + 1)
  // The maximum delay of a timer.
  return Math.min(seconds * 1000, 2 ** 31 - 1)
}

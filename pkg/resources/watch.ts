import { randomInt, randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import type { EventStream } from '../request/event-stream.ts'
import { expired } from '../status/status.ts'
import type { Collection } from './collection.ts'
import type { Entry } from './entry.ts'
import { waitForVersion } from './freshness.ts'
import type { Change } from './history.ts'
import { followSight, type Visible } from './visible.ts'
import { type Encoder, encodeError, openingOnce, toFramed } from './watch-encoder.ts'
import type { WatchHub } from './watch-hub.ts'

/** The options of a watch, as metav1.ListOptions has them. */
export type WatchOptions = {
  /** '' is the most recent state, '0' any. */
  readonly resourceVersion: string
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  /** 0 leaves it to the server. */
  readonly timeoutSeconds: number
}

export type WatchRequest = {
  readonly options: WatchOptions
  readonly matches: (entry: Entry) => boolean
  readonly encoder: Encoder
  /** Watchers with one key select and encode alike, and share the work of it. */
  readonly channelKey: string
  /** Narrows what is told to what one caller may see; such a watch shares nothing with others, but for one who sees all. */
  readonly visible?: Visible | undefined
  readonly stream: EventStream
}

// kube-apiserver ends a watch after 30 to 60 minutes; spread, so that clients do not all come back at once.
const defaultSeconds = { min: 1_800, max: 3_600 }
const bookmarkEveryMs = 60_000
// The last bookmark lets a client resume without a gap when the watch has run its time.
const bookmarkBeforeEndMs = 2_000

/**
 * Serves a watch: the head at once, what the start version asks for, then every change until time, client or server end it.
 * The stream is never compressed, and each event is one JSON object and a line feed, or a message of a WebSocket.
 */
export async function serveWatch(
  collection: Collection,
  hub: WatchHub,
  request: WatchRequest,
): Promise<void> {
  const { options, stream } = request
  const from = options.resourceVersion
  // KEP-3157: "" asks for the latest; what is cached is what there is.
  if (options.sendInitialEvents === true) await waitForVersion(collection, from)
  if (stream.isGone()) return
  const out = stream.open()
  hub.admit(out)
  const gone = new AbortController()
  out.once('close', () => gone.abort())
  const endAtMs = performance.now() + watchMs(options)
  const end = setTimeout(() => out.end(), endAtMs - performance.now())
  out.once('close', () => clearTimeout(end))
  // A version that another replica gave out may lie ahead of this one: events up to it have been seen by the client.
  if (Number(from) > collection.version) {
    await collection.waitFor(Number(from), endAtMs - performance.now(), gone.signal)
  }
  if (!out.destroyed && !out.writableEnded) {
    const encoder = toFramed(request.encoder, stream.frame)
    await follow(collection, hub, { ...request, encoder, endAtMs, out })
  }
}

type Followed = WatchRequest & { readonly endAtMs: number; readonly out: Writable }

async function follow(collection: Collection, hub: WatchHub, request: Followed): Promise<void> {
  const { options, stream, out, encoder } = request
  const visible = request.visible?.isAll ? undefined : request.visible
  // The kind may have gone while a version was waited for.
  if (collection.isEnded) return void out.end()
  const matches = visible ? (entry: Entry) => request.matches(entry) && visible.has(entry) : request.matches
  const first = firstEvents(collection, { ...request, matches })
  if (first === undefined) {
    const message = `too old resource version: ${options.resourceVersion} (${collection.horizon})`
    out.end(stream.frame(encodeError(expired(message))))
    return
  }
  // Joined in the same turn in which the state was read: nothing can fall between.
  const channel = `${stream.name} ${request.channelKey}`
  const key = visible ? `${channel} ${randomUUID()}` : channel
  const watcher = hub.join(collection, { key, matches, encoder }, out)
  const { opening } = encoder
  const tell = (say: (encoder: Encoder) => Buffer) =>
    watcher.write(say(encoder), opening && (() => say(opening)))
  const stopSight = visible
    ? followSight(collection, visible, {
        matches: request.matches,
        tell: (type, entry) => tell(({ event }) => event(type, entry)),
      })
    : // Who may not see all any more is shown what is left by the next list.
      request.visible?.onChange(() => out.end())
  const stopBookmarks = startBookmarks(request, () =>
    tell(({ bookmark }) => bookmark(collection.version, false)),
  )
  out.once('close', () => {
    stopBookmarks()
    stopSight?.()
    watcher.leave()
  })
  await watcher.begin(first)
}

/** What the client is told before live events: undefined when its version is too old to go on from. */
function firstEvents(
  collection: Collection,
  { options, matches, encoder: given }: WatchRequest,
): Iterable<Buffer> | undefined {
  const encoder = openingOnce(given)
  const { resourceVersion, sendInitialEvents } = options
  const isState = sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0')
  if (isState) return stateEvents(collection, { options, matches, encoder })
  // sendInitialEvents=false without a version: from now on.
  if (resourceVersion === '' || resourceVersion === '0') return []
  const missed = collection.since(Number(resourceVersion))
  return missed && changesEvents(missed, matches, encoder)
}

function stateEvents(
  collection: Collection,
  { options, matches, encoder }: Pick<WatchRequest, 'options' | 'matches' | 'encoder'>,
): Iterable<Buffer> {
  const state = { version: collection.version, leaves: collection.snapshot() }
  return (function* () {
    for (const leaf of state.leaves) {
      const events = leaf.entries.filter(matches).map(entry => encoder.event('ADDED', entry))
      if (events.length > 0) yield Buffer.concat(events)
    }
    // The end of the burst is told to those who take bookmarks (KEP-3157).
    if (options.allowWatchBookmarks) yield encoder.bookmark(state.version, true)
  })()
}

function* changesEvents(
  changes: readonly Change[],
  matches: (entry: Entry) => boolean,
  encoder: Encoder,
): Generator<Buffer> {
  for (const change of changes) {
    const event = encoder.change(change, matches)
    if (event) yield event
  }
}

function startBookmarks(request: Followed, bookmark: () => void): () => void {
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
  // The longest that a timer can be set to.
  return Math.min(seconds * 1000, 2 ** 31 - 1)
}

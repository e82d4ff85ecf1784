import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { badRequest, expired, toStatus } from '../../apierrors/status.ts'
import type { PageWatchQuery } from '../../apirequest/query/watch-query.ts'
import type { EventStream } from '../../httpserver/response/event-stream.ts'
import { waitForDrain } from '../../httpserver/response/respond.ts'
import { type ListRequest, listPage } from '../../resourcecache/list/list.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import {
  assertCurrent,
  type ObjectVisibility,
  visibilityChanged,
} from '../../resourcecache/list/object-visibility.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'
import { entriesOf } from '../../resourcecache/store/chunk.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import { encodeError } from '../../resourcecache/watch/watch-encoder.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'

/** Maximum number of objects on a page that is watched. */
export const maxWatchedItems = 500

export type PageWatch = {
  readonly options: PageWatchQuery
  readonly request: ListRequest
  readonly form: Form
  readonly visible: ObjectVisibility | undefined
  readonly timeSlices: TimeSlices
  readonly broadcaster: WatchBroadcaster
  readonly stream: EventStream
}

/** The page that the client has received last. */
type ShownPage = { readonly entries: ReadonlyMap<string, CachedObject>; readonly total: number }

// Changes that arrive within this time are sent in one event.
const settleMs = 100
const restMs = 500
// Annotations that are computed from other objects change without an event of the object itself.
const lookEveryMs = 5_000
const bookmarkEveryMs = 60_000

/**
 * Serves a page of a list and its changes: a PAGE event, then CHANGED events with the difference,
 * at most two per second. A client that reads slowly misses intermediate states. The stream ends
 * with an ERROR event (410) when the set of objects that the caller may see changes.
 *
 * @throws Status 400 for a page of more than 500 objects, and as listPage
 */
export async function watchPage(store: ObjectStore, watch: PageWatch): Promise<void> {
  const { request, stream, broadcaster, visible, options } = watch
  const { limit } = request.query
  if (limit < 0 || limit > maxWatchedItems)
    throw badRequest(`a watch of a page needs a limit from 0 to ${maxWatchedItems}`)
  const first = await readPage(store, watch)
  assertCurrent(visible)
  if (stream.isGone()) return
  const out = stream.open()
  const gone = new AbortController()
  const { signal } = gone
  out.once('close', () => gone.abort())
  const sender = createSender(out, watch)
  broadcaster.register(out, sender.end)
  const timer = setTimeout(sender.end, options.timeoutMs)
  const changes = followStore(store, signal)
  const unsubscribe = visible?.onChange(() => sender.fail(expired(visibilityChanged)))
  try {
    await sender.send(pageEvent(store, first, watch.form))
    await follow({ ...watch, store, sender, signal, changes }, first)
    sender.end()
  } catch (error) {
    if (!signal.aborted) sender.fail(error)
  } finally {
    clearTimeout(timer)
    unsubscribe?.()
    changes.stop()
  }
}

type Sender = {
  /** Writes an event in pieces, as fast as the client reads. */
  readonly send: (event: Iterable<Buffer>) => Promise<void>
  /** Ends the stream after the current event. */
  readonly end: () => void
  /** Ends the stream with an error event, or within an event, closes the connection. */
  readonly fail: (error: unknown) => void
  readonly isEnded: () => boolean
}

function createSender(out: Writable, { stream, broadcaster }: PageWatch): Sender {
  let isSending = false
  let isEnding = false
  const isEnded = () => isEnding || out.destroyed || out.writableEnded
  const finish = (last?: Buffer) => void (out.writableEnded || out.end(last))
  return {
    isEnded,
    async send(event) {
      isSending = true
      for (const piece of stream.pieces(event)) {
        if (out.destroyed) return
        if (!out.write(piece)) await waitForDrain(out, broadcaster.stallMs())
      }
      isSending = false
      if (isEnding) finish()
    },
    end() {
      isEnding = true
      if (!isSending) finish()
    },
    fail(error) {
      isEnding = true
      // The current event may contain objects that the caller may no longer see, and an error
      // cannot be inserted into it.
      if (isSending) out.destroy()
      else finish(stream.frame(encodeError(toStatus(error))))
    },
  }
}

type FollowedPage = PageWatch & {
  readonly store: ObjectStore
  readonly sender: Sender
  readonly signal: AbortSignal
  readonly changes: StoreChanges
}

async function follow(followed: FollowedPage, first: ShownPage): Promise<void> {
  const { store, sender, signal, changes, visible, options, form, timeSlices } = followed
  let shown = first
  let sentAtMs = performance.now()
  while (!sender.isEnded()) {
    await changes.next()
    await delay(Math.max(settleMs, sentAtMs + restMs - performance.now()), undefined, { signal })
    // Waits for a time slice, since pages of one user share their CPU time.
    await timeSlices.next()
    if (store.isEnded || sender.isEnded()) return
    const now = await readPage(store, followed)
    assertCurrent(visible)
    if (sender.isEnded()) return
    const event = changeEvent(store, { shown, now, form })
    shown = now
    const isDue = performance.now() - sentAtMs >= bookmarkEveryMs
    const next = event ?? (options.allowWatchBookmarks && isDue ? [bookmark(store)] : undefined)
    if (next === undefined) continue
    await sender.send(next)
    sentAtMs = performance.now()
  }
}

async function readPage(store: ObjectStore, { request, timeSlices }: PageWatch): Promise<ShownPage> {
  const { selection, total } = await listPage(store, request, timeSlices)
  return { entries: new Map([...entriesOf(selection)].map(entry => [keyOf(entry), entry])), total }
}

/** Returns the uid, or the key of objects without one (componentstatuses). */
function keyOf(entry: CachedObject): string {
  return entry.meta.uid ?? entry.key
}

type StoreChanges = {
  /** Resolves at the next change, or after some seconds without one. */
  readonly next: () => Promise<void>
  readonly stop: () => void
}

function followStore(store: ObjectStore, signal: AbortSignal): StoreChanges {
  // The first comparison is immediate: the store may have changed since the page was read.
  let isChanged = true
  let wake = (): void => undefined
  const changed = () => {
    isChanged = true
    wake()
  }
  const unsubscribe = store.subscribe({ changed, reset: changed })
  return {
    async next() {
      if (!isChanged) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, lookEveryMs)
        signal.addEventListener('abort', () => resolve(), { once: true })
        await promise
        clearTimeout(timer)
      }
      signal.throwIfAborted()
      isChanged = false
    },
    stop: unsubscribe,
  }
}

function* pageEvent(store: ObjectStore, { entries, total }: ShownPage, form: Form): Generator<Buffer> {
  yield eventStart('PAGE', { store, keys: entries.keys(), total })
  yield Buffer.from(',"items":[')
  let isFirst = true
  for (const entry of entries.values()) {
    if (!isFirst) yield comma
    isFirst = false
    yield* form.toParts(entry)
  }
  yield Buffer.from(']}}\n')
}

/** Returns the event with the difference of two states of a page; undefined if they are equal. */
function changeEvent(
  store: ObjectStore,
  { shown, now, form }: { readonly shown: ShownPage; readonly now: ShownPage; readonly form: Form },
): Iterable<Buffer> | undefined {
  const changed = [...now.entries].filter(([key, entry]) => shown.entries.get(key) !== entry)
  const [before, after] = [[...shown.entries.keys()], [...now.entries.keys()]]
  const isSameOrder = before.length === after.length && before.every((key, i) => key === after[i])
  if (changed.length === 0 && isSameOrder && shown.total === now.total) return undefined
  return changedEvent(eventStart('CHANGED', { store, keys: after, total: now.total }), changed, form)
}

function* changedEvent(
  start: Buffer,
  changed: readonly (readonly [key: string, entry: CachedObject])[],
  form: Form,
): Generator<Buffer> {
  yield start
  yield Buffer.from(',"changed":{')
  for (const [i, [key, entry]] of changed.entries()) {
    yield Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(key)}:`)
    yield* form.toParts(entry)
  }
  yield Buffer.from('}}}\n')
}

const comma = Buffer.from(',')

function eventStart(
  type: 'PAGE' | 'CHANGED',
  {
    store,
    keys,
    total,
  }: { readonly store: ObjectStore; readonly keys: Iterable<string>; readonly total: number },
): Buffer {
  const head = JSON.stringify({ resourceVersion: String(store.version), totalItems: total, keys: [...keys] })
  return Buffer.from(`{"type":"${type}","object":${head.slice(0, -1)}`)
}

function bookmark(store: ObjectStore): Buffer {
  const object = { resourceVersion: String(store.version) }
  return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
}

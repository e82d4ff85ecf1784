import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { badRequest, expired, toStatus } from '../apierrors/status.ts'
import type { PageWatchQuery } from '../apirequest/watch-query.ts'
import type { EventStream } from '../httpserver/event-stream.ts'
import { drained } from '../httpserver/respond.ts'
import { type ListRequest, listPage } from '../resourcecache/list/list.ts'
import { type Form, objectBytes } from '../resourcecache/list/list-body.ts'
import { assertCurrent, changedSight, type Visible } from '../resourcecache/list/object-visibility.ts'
import type { Entry } from '../resourcecache/store/cached-object.ts'
import { entriesOf } from '../resourcecache/store/chunk.ts'
import type { ObjectStore } from '../resourcecache/store/store.ts'
import type { WatchBroadcaster } from '../resourcecache/watch/watch-broadcaster.ts'
import { encodeError } from '../resourcecache/watch/watch-encoder.ts'
import type { TimeSlices } from '../scheduling/time-slices.ts'

/** The most objects on a page that is watched. */
export const maxWatchedItems = 500

export type PageWatch = {
  readonly options: PageWatchQuery
  readonly request: ListRequest
  readonly form: Form
  readonly visible: Visible | undefined
  readonly timeSlices: TimeSlices
  readonly broadcaster: WatchBroadcaster
  readonly stream: EventStream
}

/** What a client has been sent. */
type Shown = { readonly entries: ReadonlyMap<string, Entry>; readonly total: number }

// Changes that come together are sent together.
const settleMs = 100
const restMs = 500
// Annotations computed from other objects change without an event of the object itself.
const lookEveryMs = 5_000
const bookmarkEveryMs = 60_000

/**
 * Serves a page of a list that stays current: a PAGE event, then a CHANGED event with the
 * difference, at most two a second. A client that reads slowly skips the states in between. The
 * stream ends with an ERROR event (410) when other objects become visible to the caller.
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
  broadcaster.admit(out)
  const gone = new AbortController()
  const { signal } = gone
  out.once('close', () => gone.abort())
  const end = (last?: Buffer) => void (out.writableEnded || out.end(last))
  const timer = setTimeout(end, options.timeoutMs)
  const changes = followStore(store, signal)
  const stopSight = visible?.onChange(() => end(stream.frame(encodeError(expired(changedSight)))))
  try {
    await send(out, stream.frame(pageEvent(store, first, watch.form)), broadcaster)
    await follow({ ...watch, store, out, signal, changes }, first)
    end()
  } catch (error) {
    if (!signal.aborted) end(stream.frame(encodeError(toStatus(error))))
  } finally {
    clearTimeout(timer)
    stopSight?.()
    changes.stop()
  }
}

type Followed = PageWatch & {
  readonly store: ObjectStore
  readonly out: Writable
  readonly signal: AbortSignal
  readonly changes: StoreChanges
}

async function follow(followed: Followed, first: Shown): Promise<void> {
  const { store, out, signal, changes, stream, options, form, broadcaster } = followed
  let shown = first
  let sentAtMs = performance.now()
  while (!out.writableEnded) {
    await changes.next()
    await delay(Math.max(settleMs, sentAtMs + restMs - performance.now()), undefined, { signal })
    if (store.isEnded || out.writableEnded) return
    const now = await readPage(store, followed)
    if (out.writableEnded) return
    const event = changeEvent(store, { shown, now, form })
    shown = now
    const isDue = performance.now() - sentAtMs >= bookmarkEveryMs
    const next = event ?? (options.allowWatchBookmarks && isDue ? bookmark(store) : undefined)
    if (next === undefined) continue
    await send(out, stream.frame(next), broadcaster)
    sentAtMs = performance.now()
  }
}

async function readPage(store: ObjectStore, { request, timeSlices }: PageWatch): Promise<Shown> {
  const { selection, total } = await listPage(store, request, timeSlices)
  return { entries: new Map([...entriesOf(selection)].map(entry => [keyOf(entry), entry])), total }
}

/** The uid; what has none (componentstatuses) is never created again under its name. */
function keyOf(entry: Entry): string {
  return entry.meta.uid ?? entry.key
}

type StoreChanges = {
  /** Resolves with the next change, or after some seconds. */
  readonly next: () => Promise<void>
  readonly stop: () => void
}

function followStore(store: ObjectStore, signal: AbortSignal): StoreChanges {
  // The store may have changed since the page was read.
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

async function send(out: Writable, event: Buffer, { stallMs }: WatchBroadcaster): Promise<void> {
  if (!out.write(event)) await drained(out, stallMs())
}

function pageEvent(store: ObjectStore, { entries, total }: Shown, form: Form): Buffer {
  const items = [...entries.values()].map(entry => objectBytes(entry, form))
  return toEvent('PAGE', { store, keys: entries.keys(), total }, [
    Buffer.from(',"items":['),
    ...items.flatMap((item, i) => (i === 0 ? [item] : [comma, item])),
    Buffer.from(']'),
  ])
}

/** The event that turns one state of a page into another; undefined if they are equal. */
function changeEvent(
  store: ObjectStore,
  { shown, now, form }: { readonly shown: Shown; readonly now: Shown; readonly form: Form },
): Buffer | undefined {
  const changed = [...now.entries].filter(([key, entry]) => shown.entries.get(key) !== entry)
  const [before, after] = [[...shown.entries.keys()], [...now.entries.keys()]]
  const isSameOrder = before.length === after.length && before.every((key, i) => key === after[i])
  if (changed.length === 0 && isSameOrder && shown.total === now.total) return undefined
  const members = changed.flatMap(([key, entry], i) => [
    Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(key)}:`),
    objectBytes(entry, form),
  ])
  return toEvent('CHANGED', { store, keys: after, total: now.total }, [
    Buffer.from(',"changed":{'),
    ...members,
    Buffer.from('}'),
  ])
}

const comma = Buffer.from(',')

function toEvent(
  type: 'PAGE' | 'CHANGED',
  {
    store,
    keys,
    total,
  }: { readonly store: ObjectStore; readonly keys: Iterable<string>; readonly total: number },
  rest: readonly Buffer[],
): Buffer {
  const head = JSON.stringify({ resourceVersion: String(store.version), totalItems: total, keys: [...keys] })
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":${head.slice(0, -1)}`), ...rest, eventEnd])
}

const eventEnd = Buffer.from('}}\n')

function bookmark(store: ObjectStore): Buffer {
  const object = { resourceVersion: String(store.version) }
  return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
}

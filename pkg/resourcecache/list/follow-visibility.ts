import type { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { waitForDrain } from '../../httpserver/response/respond.ts'
import type { CachedObject } from '../store/cached-object.ts'
import type { ObjectStore } from '../store/store.ts'
import type { EventType } from '../watch/watch-encoder.ts'
import type { ObjectVisibility } from './object-visibility.ts'

// A longer time slice would noticeably delay other requests.
const sliceMs = 4

/**
 * Sends events for unchanged objects that become visible (ADDED) or invisible (DELETED) to the
 * caller. Works in time slices, and as fast as the client reads.
 *
 * @param options `send` writes one event to the watcher, whose connection is `out`
 * @returns a function that stops it
 */
export function followVisibility(
  store: ObjectStore,
  visible: ObjectVisibility,
  options: {
    readonly matches: (entry: CachedObject) => boolean
    readonly send: (type: EventType, entry: CachedObject) => void
    readonly out: Writable
  },
): () => void {
  const { matches, send, out } = options
  const shown = new Set<string>()
  const isShown = (entry: CachedObject) => matches(entry) && visible.has(entry)
  for (const entry of store.entries()) if (isShown(entry)) shown.add(entry.key)
  let isStopped = false
  let isRunning = false
  let isOutdated = false

  // The watch itself sends changed objects; only their visibility is recorded here.
  const unsubscribe = store.subscribe({
    changed: changes => {
      for (const { type, entry, old } of changes) {
        const is = type !== 'DELETED' && isShown(entry)
        // For the watch, an object that was hidden before it was sent has never been shown.
        const isUnsent = !is && shown.has(entry.key) && old !== undefined && !isShown(old)
        if (is) shown.add(entry.key)
        else shown.delete(entry.key)
        if (isUnsent) send('DELETED', old)
      }
    },
    reset: () => undefined,
  })

  function compareOne({ key, namespace, name }: CachedObject): void {
    const entry = store.get(namespace, name)
    if (entry === undefined || isShown(entry) === shown.has(key)) return
    if (shown.delete(key)) send('DELETED', entry)
    else {
      shown.add(key)
      send('ADDED', entry)
    }
  }

  async function compareAll(): Promise<void> {
    let since = performance.now()
    for (const entry of [...store.entries()]) {
      if (isStopped || out.destroyed) return
      compareOne(entry)
      if (performance.now() - since < sliceMs && !out.writableNeedDrain) continue
      await (out.writableNeedDrain ? waitForDrain(out) : nextTurn())
      since = performance.now()
    }
  }

  /** Compares the visible objects with those that were sent, until nothing has changed in between. */
  async function compare(): Promise<void> {
    while (isOutdated && !isStopped) {
      isOutdated = false
      await compareAll()
    }
  }
  const stop = visible.onChange(() => {
    isOutdated = true
    if (isRunning) return
    isRunning = true
    void compare().finally(() => {
      isRunning = false
    })
  })
  return () => {
    isStopped = true
    unsubscribe()
    stop()
  }
}

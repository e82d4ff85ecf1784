import { waitForLatest } from '../informer/wait-for-resource-version.ts'
import type { Entry } from '../store/cached-object.ts'
import type { ObjectStore } from '../store/store.ts'
import type { EventType } from '../watch/watch-encoder.ts'

/** The objects of a kind that one caller may see. */
export type Visible = {
  /** The same key means the same objects, unless one is being watched. */
  readonly key: string
  readonly has: (entry: Entry) => boolean
  /** Everything is visible, until a change; then this is outdated. */
  readonly isAll?: true
  /**
   * The result of `has` is fixed: callers with the same key share what is made for them, and a
   * change ends a watch.
   */
  readonly fixed?: {
    /** The version since which this caller has been shown this; undefined for one who was not. */
    readonly versionShown: () => number | undefined
    readonly show: (version: number) => void
  }
  /**
   * Calls back when the result of `has` may have changed, until the returned function is called.
   */
  readonly onChange: (listener: () => void) => () => void
}

/** The fault of a list or a watch that goes on from one which showed other objects. */
export const changedSight = 'the namespaces you may see have changed'

/**
 * To be called before the state is shown. Versions from before a change of what is visible are lower
 * than those after it, so that no watch goes on from them.
 *
 * @throws Status 503, 504
 */
export async function beginSight(store: ObjectStore, visible: Visible | undefined): Promise<void> {
  if (visible?.fixed === undefined || visible.fixed.versionShown() !== undefined) return
  await waitForLatest(store)
  visible.fixed.show(store.version)
}

/**
 * Sends events for objects that become visible (ADDED) or invisible (DELETED) to the caller without
 * being changed.
 *
 * @param options `tell` writes one event to the watcher
 * @returns a function that stops it
 */
export function followVisibility(
  store: ObjectStore,
  visible: Visible,
  options: {
    readonly matches: (entry: Entry) => boolean
    readonly tell: (type: EventType, entry: Entry) => void
  },
): () => void {
  const { matches, tell } = options
  const shown = new Set<string>()
  const isShown = (entry: Entry) => matches(entry) && visible.has(entry)
  for (const entry of store.entries()) if (isShown(entry)) shown.add(entry.key)

  // Changed objects are sent by the watch itself; here they are only noted.
  const unsubscribe = store.subscribe({
    changed: changes => {
      for (const { type, entry } of changes) {
        if (type !== 'DELETED' && isShown(entry)) shown.add(entry.key)
        else shown.delete(entry.key)
      }
    },
    reset: () => undefined,
  })
  const stop = visible.onChange(() => {
    for (const entry of store.entries()) {
      const is = isShown(entry)
      if (is === shown.has(entry.key)) continue
      if (is) shown.add(entry.key)
      else shown.delete(entry.key)
      tell(is ? 'ADDED' : 'DELETED', entry)
    }
  })
  return () => {
    unsubscribe()
    stop()
  }
}

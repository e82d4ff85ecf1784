import type { Entry } from '../store/cached-object.ts'
import type { Collection } from '../store/store.ts'
import type { EventType } from '../watch/watch-encoder.ts'

/** What one caller may see of a kind of which not everybody sees the same. */
export type Visible = {
  /** Two with one key show the same, as long as neither is followed. */
  readonly key: string
  readonly has: (entry: Entry) => boolean
  /** Nothing is hidden, until a change, after which this no longer says what is. */
  readonly isAll?: true
  /** Told whenever what `has` answers may have changed, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void
}

/**
 * Sends events for objects that become visible (ADDED) or invisible (DELETED) to the caller without
 * being changed.
 *
 * @param options `tell` writes one event to the watcher
 * @returns a function that stops it
 */
export function followSight(
  collection: Collection,
  visible: Visible,
  options: {
    readonly matches: (entry: Entry) => boolean
    readonly tell: (type: EventType, entry: Entry) => void
  },
): () => void {
  const { matches, tell } = options
  const shown = new Set<string>()
  const isShown = (entry: Entry) => matches(entry) && visible.has(entry)
  for (const entry of collection.entries()) if (isShown(entry)) shown.add(entry.key)

  // What changes by itself is told by the ordinary way; it is only noted here.
  const unsubscribe = collection.subscribe({
    changed: changes => {
      for (const { type, entry } of changes) {
        if (type !== 'DELETED' && isShown(entry)) shown.add(entry.key)
        else shown.delete(entry.key)
      }
    },
    reset: () => undefined,
  })
  const stop = visible.onChange(() => {
    for (const entry of collection.entries()) {
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

import type { CachedObject } from '../store/cached-object.ts'
import type { WatchChange } from '../store/watch-window.ts'

export type ClassUsage = {
  /** Returns the number of objects that name the class. */
  readonly of: (name: string) => number
  readonly replace: (entries: Iterable<CachedObject>) => void
  readonly apply: (changes: readonly WatchChange[]) => void
}

/**
 * Counts objects by the class that they name, such as claims by storage class.
 *
 * @param field the value of an object that is the name of its class
 * @param changed called with the classes whose count has changed
 */
export function createClassUsage(field: string, changed: (names: ReadonlySet<string>) => void): ClassUsage {
  const counts = new Map<string, number>()

  function count({ fields }: CachedObject, step: 1 | -1, touched: Set<string>): void {
    const name = fields.values[field] ?? ''
    if (name === '') return
    const next = (counts.get(name) ?? 0) + step
    if (next > 0) counts.set(name, next)
    else counts.delete(name)
    touched.add(name)
  }

  return {
    of: name => counts.get(name) ?? 0,
    replace(entries) {
      const touched = new Set(counts.keys())
      counts.clear()
      for (const entry of entries) count(entry, 1, touched)
      changed(touched)
    },
    apply(changes) {
      const touched = new Set<string>()
      for (const { type, entry, old } of changes) {
        if (old !== undefined) count(old, -1, touched)
        if (type !== 'DELETED') count(entry, 1, touched)
      }
      if (touched.size > 0) changed(touched)
    },
  }
}

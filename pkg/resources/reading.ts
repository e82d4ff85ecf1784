import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonPath } from '../request/json-path.ts'
import type { Entry } from './entry.ts'

/** Values of an object that are read from its bytes: read once for each version of it, and then remembered. */
export type Reading = {
  /** One value for each path, in their order; undefined for a path that leads nowhere. */
  readonly of: (entry: Entry) => readonly unknown[]
  /** Reads what has not been read yet, and lets other requests in between. */
  readonly prepare: (entries: Iterable<Entry>) => Promise<void>
}

// Longer than this at a stretch, and other requests would feel it.
const sliceMs = 8

export function createReading(paths: readonly JsonPath[]): Reading {
  const known = new WeakMap<Entry, readonly unknown[]>()
  // The bulk of an object is parsed only for those who look into it.
  const isMetadataOnly = paths.every(({ steps }) => steps[0] === 'metadata')

  function of(entry: Entry): readonly unknown[] {
    const found = known.get(entry)
    if (found !== undefined) return found
    const metadata = { ...entry.meta, annotations: entry.annotations }
    const object = isMetadataOnly ? { metadata } : { ...entry.parsed(), metadata }
    const values = paths.map(path => path.read(object))
    known.set(entry, values)
    return values
  }

  return {
    of,
    async prepare(entries) {
      let since = performance.now()
      for (const entry of [...entries]) {
        of(entry)
        if (performance.now() - since < sliceMs) continue
        await nextTurn()
        since = performance.now()
      }
    },
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { findPath, type Steps } from '../json/path.ts'
import type { Entry } from './entry.ts'

/** Values of an object that are read from its bytes: read once for each version of it, and then remembered. */
export type Reading = {
  /** The source text of one value for each path, in their order; undefined for a path that leads nowhere. */
  readonly of: (entry: Entry) => readonly (string | undefined)[]
  /** Reads what has not been read yet, and lets other requests in between. */
  readonly prepare: (entries: Iterable<Entry>) => Promise<void>
}

// Longer than this at a stretch, and other requests would feel it.
const sliceMs = 8

export function createReading(paths: readonly Steps[]): Reading {
  const known = new WeakMap<Entry, readonly (string | undefined)[]>()
  // The bulk of an object is looked through only for those who look into it.
  const isMetadataOnly = paths.every(([first]) => first === 'metadata')

  function of(entry: Entry): readonly (string | undefined)[] {
    const found = known.get(entry)
    if (found !== undefined) return found
    const json = `${entry.platformHead()}${isMetadataOnly ? '}' : entry.tail}`
    const values = paths.map(path => detached(findPath(json, path)))
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

/** A part of a text keeps the whole of it in memory, unless it is copied. */
function detached(text: string | undefined): string | undefined {
  return text && Buffer.from(text).toString()
}

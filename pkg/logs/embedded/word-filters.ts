import { crc32 } from 'node:zlib'
import { createSharedMemory } from '../shared-memory.ts'
import type { Footer } from './segment-format.ts'
import type { Source } from './source.ts'
import { hashWord, mayHave, openWordFilter, pageBytes, type WordFilter } from './word-filter.ts'

/**
 * Tells of segments whether they have a word without a look into their files, which takes a hundred times as long where these are
 * not in the page cache. Who looks for a number asks all segments for what one in ten has.
 */
export type WordFilters = {
  readonly add: (segment: FilteredSegment) => void
  readonly remove: (id: string) => void
  /** Reads those of the newest segments, as long as there is room, and lets go of all others; yields after each that is read. */
  readonly load: () => Generator<void, void>
  /** Whether a segment may have a word. It may where nothing is known of it. */
  readonly mayHave: (id: string, word: Uint8Array) => boolean
}

export type FilteredSegment = {
  readonly id: string
  readonly footer: Pick<Footer, 'day' | 'lastTime' | 'filter'>
  readonly readInto: Source['readInto']
}

type Known = { readonly pages: readonly Buffer[]; readonly filter: WordFilter }

/** @param report called with what cannot be read */
export function createWordFilters(limitBytes: number, report: (error: unknown) => void): WordFilters {
  // They stay, so V8 need not count them.
  const memory = createSharedMemory({ limitBytes, stepBytes: pageBytes })
  const segments = new Map<string, FilteredSegment>()
  const known = new Map<string, Known>()

  function forget(id: string): void {
    const found = known.get(id)
    if (found === undefined) return
    known.delete(id)
    found.pages.forEach(memory.give)
  }

  function newest(): ReadonlySet<string> {
    const chosen = new Set<string>()
    let left = limitBytes
    for (const { id, footer } of [...segments.values()].toSorted(newestFirst)) {
      left -= pagesOf(footer.filter?.length ?? 0) * pageBytes
      if (left < 0) break
      chosen.add(id)
    }
    return chosen
  }

  function read({ id, footer, readInto }: FilteredSegment): void {
    if (footer.filter === undefined) return
    const { offset, length, crc } = footer.filter
    const pages = Array.from({ length: pagesOf(length) }, () => memory.take(pageBytes))
    try {
      let [sum, at] = [0, 0]
      for (const page of pages) {
        const part = page.subarray(0, Math.min(pageBytes, length - at))
        readInto(offset + at, part)
        sum = crc32(part, sum)
        at += part.length
      }
      // A bit that is lost would hide lines.
      if (sum !== crc) throw new Error(`segment ${id}: the filter of its words is damaged`)
      known.set(id, { pages, filter: openWordFilter(length, pages) })
    } catch (error) {
      pages.forEach(memory.give)
      // It is not tried again; questions look into the file.
      segments.delete(id)
      report(error)
    }
  }

  return {
    add: segment => segments.set(segment.id, segment),
    remove: id => {
      segments.delete(id)
      forget(id)
    },
    *load() {
      const chosen = newest()
      for (const id of known.keys()) if (!chosen.has(id)) forget(id)
      for (const id of chosen) {
        const segment = segments.get(id)
        if (segment === undefined || known.has(id)) continue
        read(segment)
        yield
      }
    },
    mayHave: (id, word) => {
      const found = known.get(id)
      return found === undefined || mayHave(found.filter, hashWord(word))
    },
  }
}

function newestFirst({ footer: a }: FilteredSegment, { footer: b }: FilteredSegment): number {
  return b.day - a.day || b.lastTime - a.lastTime
}

function pagesOf(bytes: number): number {
  return Math.ceil(bytes / pageBytes)
}

import { type Form, type Frame, objectBytes, plainChunks } from './body.ts'
import type { Entry } from './entry.ts'
import type { Leaf, Selection } from './leaf.ts'
import { ownBytes } from './own-bytes.ts'

type Page = { readonly leaves: readonly Leaf[]; readonly frame: string; readonly bytes: Buffer }

const maxBytes = 32 * 1024 * 1024
const maxObjects = 1024
// Larger answers are streamed, and would push everything else out.
const maxRuns = 8

/**
 * Pages that were joined lately. Consoles ask for the same first pages again and again, and joining one costs fresh memory
 * of its size each time, which is the dearest part of answering. Leaves never change, so a page is good while it still
 * consists of the same leaves: nothing has to be invalidated.
 */
export class PageCache {
  readonly #pages = new Map<string, Page>()
  readonly #objects = new Map<Entry, { readonly form: Form; readonly bytes: Buffer }>()
  #bytes = 0

  /** The list as one buffer; undefined when it is too large to be kept and should be streamed. */
  page(selection: Selection, form: Form, frame: Frame): Buffer | undefined {
    const { runs, descending } = selection
    if (runs.length > maxRuns) return undefined
    const places = runs.map(({ start, end }) => `${start}-${end}`).join()
    const key = `${form.name} ${descending} ${places} ${toLeafKey(selection)}`
    const text = frame.before + frame.after
    const found = this.#pages.get(key)
    if (found?.frame === text && runs.every(({ leaf }, i) => found.leaves[i] === leaf)) return found.bytes
    const bytes = ownBytes(Buffer.concat([...plainChunks(selection, form, frame)]))
    this.#keep(key, { leaves: runs.map(({ leaf }) => leaf), frame: text, bytes })
    return bytes
  }

  /** One object as one buffer. An entry never changes, so neither do its bytes. */
  object(entry: Entry, form: Form): Buffer {
    const known = this.#objects.get(entry)
    if (known?.form === form) return known.bytes
    const bytes = ownBytes(objectBytes(entry, form))
    this.#objects.set(entry, { form, bytes })
    for (const oldest of this.#objects.keys()) {
      if (this.#objects.size <= maxObjects) break
      this.#objects.delete(oldest)
    }
    return bytes
  }

  #keep(key: string, page: Page): void {
    this.#bytes += page.bytes.length - (this.#pages.get(key)?.bytes.length ?? 0)
    this.#pages.delete(key)
    this.#pages.set(key, page)
    for (const [oldest, { bytes }] of this.#pages) {
      if (this.#bytes <= maxBytes) break
      this.#pages.delete(oldest)
      this.#bytes -= bytes.length
    }
  }
}

/** Tells pages of different lists apart that lie at the same places of their leaves. */
function toLeafKey({ runs }: Selection): string {
  const [first] = runs
  return first?.leaf.entries[first.start]?.key ?? ''
}

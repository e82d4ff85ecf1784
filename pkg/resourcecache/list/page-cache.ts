import { type BoundedCache, createBoundedCache } from '../../cache/bounded-cache.ts'
import type { Entry } from '../store/cached-object.ts'
import type { Leaf, Selection } from '../store/chunk.ts'
import { ownBytes } from '../store/unpooled-buffer.ts'
import type { GzipPiece } from './gzip.ts'
import { type Form, type Frame, isLongerThan, joinList, objectBytes, type PieceCache } from './list-body.ts'

type Page = { readonly leaves: readonly Leaf[]; readonly frame: string; readonly bytes: Buffer }
type Compressed = { readonly leaf: Leaf; readonly pieces: readonly GzipPiece[] }

const mebibyte = 1024 * 1024
// Larger responses are streamed from the bytes of the objects, since a joined copy would only serve
// one caller.
const maxPageBytes = mebibyte / 2
const maxRuns = 8
const maxObjectBytes = 16 * 1024
const maxObjects = 1024

/**
 * A cache of joined and compressed pages. Consoles repeat the same first pages, and allocating
 * memory for a page is the most expensive part of a response. Chunks are immutable, so an entry is
 * valid while its page consists of the same chunks: nothing is invalidated.
 */
export class PageCache {
  readonly #pages = createBoundedCache<Page>({ maxBytes: 32 * mebibyte, sizeOf: ({ bytes }) => bytes.length })
  readonly #objects = new Map<Entry, { readonly form: Form; readonly parts: readonly Buffer[] }>()
  readonly #compressed: BoundedCache<Compressed> = createBoundedCache({
    maxBytes: 64 * mebibyte,
    sizeOf: ({ pieces }) => pieces.reduce((sum, { deflated }) => sum + deflated.length, 0),
  })
  readonly #leafIds = new WeakMap<Leaf, number>()
  #leafCount = 0

  /** Compressed stretches of leaves. */
  readonly pieces: PieceCache = {
    get: (leaf, key) => this.#compressed.get(this.#pieceKey(leaf, key))?.pieces,
    set: (leaf, key, pieces) => this.#compressed.set(this.#pieceKey(leaf, key), { leaf, pieces }),
  }

  /** Returns the list as one buffer; undefined if it is too large and must be streamed. */
  page(selection: Selection, form: Form, frame: Frame): Buffer | undefined {
    const { runs, descending } = selection
    if (runs.length > maxRuns) return undefined
    const places = runs.map(({ start, end }) => `${start}-${end}`).join()
    const key = `${form.name} ${descending} ${places} ${toLeafKey(selection)}`
    const text = frame.before + frame.after
    const found = this.#pages.get(key)
    if (found?.frame === text && runs.every(({ leaf }, i) => found.leaves[i] === leaf)) return found.bytes
    if (isLongerThan(maxPageBytes, selection, form)) return undefined
    const bytes = ownBytes(joinList(selection, form, frame))
    this.#pages.set(key, { leaves: runs.map(({ leaf }) => leaf), frame: text, bytes })
    return bytes
  }

  /**
   * One object; a small one as one buffer. Cached objects are immutable, and so are their bytes.
   */
  object(entry: Entry, form: Form): readonly Buffer[] {
    const known = this.#objects.get(entry)
    if (known?.form === form) return known.parts
    const parts = form.toParts(entry)
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    if (length > maxObjectBytes) return parts
    const joined = [ownBytes(objectBytes(entry, form))]
    this.#objects.set(entry, { form, parts: joined })
    for (const oldest of this.#objects.keys()) {
      if (this.#objects.size <= maxObjects) break
      this.#objects.delete(oldest)
    }
    return joined
  }

  #pieceKey(leaf: Leaf, key: string): string {
    let id = this.#leafIds.get(leaf)
    if (id === undefined) {
      id = ++this.#leafCount
      this.#leafIds.set(leaf, id)
    }
    return `${id} ${key}`
  }
}

/** Distinguishes pages of different lists at the same positions of their chunks. */
function toLeafKey({ runs }: Selection): string {
  const [first] = runs
  return first?.leaf.entries[first.start]?.key ?? ''
}

import { type BoundedCache, createBoundedCache } from '../../cache/bounded-cache.ts'
import type { CachedObject } from '../store/cached-object.ts'
import type { Chunk, Selection } from '../store/chunk.ts'
import { unpooledBuffer } from '../store/unpooled-buffer.ts'
import type { GzipPiece } from './gzip.ts'
import { type Form, type Frame, isLongerThan, joinList, objectBytes, type PieceCache } from './list-body.ts'

type Page = { readonly chunks: readonly Chunk[]; readonly frame: string; readonly bytes: Buffer }
type CompressedChunk = { readonly chunk: Chunk; readonly pieces: readonly GzipPiece[] }

const mebibyte = 1024 * 1024
// Larger responses are streamed from the objects: few callers could reuse a joined copy.
const maxPageBytes = mebibyte / 2
const maxRuns = 8
const maxObjectBytes = 16 * 1024
const maxObjects = 1024

/**
 * A cache of joined and compressed pages. Consoles request the same first pages repeatedly, and
 * allocating memory for a page is the most expensive part of a response. Chunks are immutable, so
 * an entry is valid while its page consists of the same chunks, and nothing needs invalidation.
 */
export class PageCache {
  readonly #pages = createBoundedCache<Page>({ maxBytes: 32 * mebibyte, sizeOf: ({ bytes }) => bytes.length })
  readonly #objects = new Map<CachedObject, { readonly form: Form; readonly parts: readonly Buffer[] }>()
  readonly #compressed: BoundedCache<CompressedChunk> = createBoundedCache({
    maxBytes: 64 * mebibyte,
    sizeOf: ({ pieces }) => pieces.reduce((sum, { deflated }) => sum + deflated.length, 0),
  })
  readonly #leafIds = new WeakMap<Chunk, number>()
  #leafCount = 0

  /** Compressed ranges of chunks. */
  readonly pieces: PieceCache = {
    get: (chunk, key) => this.#compressed.get(this.#pieceKey(chunk, key))?.pieces,
    set: (chunk, key, pieces) => this.#compressed.set(this.#pieceKey(chunk, key), { chunk, pieces }),
  }

  /** Returns a list as one buffer; undefined if it is too large and must be streamed. */
  page(selection: Selection, form: Form, frame: Frame): Buffer | undefined {
    const { runs, descending } = selection
    if (runs.length > maxRuns) return undefined
    const ranges = runs.map(({ start, end }) => `${start}-${end}`).join()
    const key = `${form.name} ${descending} ${ranges} ${toLeafKey(selection)}`
    const text = frame.before + frame.after
    const found = this.#pages.get(key)
    if (found?.frame === text && runs.every(({ chunk }, i) => found.chunks[i] === chunk)) return found.bytes
    if (isLongerThan(maxPageBytes, selection, form)) return undefined
    const bytes = unpooledBuffer(joinList(selection, form, frame))
    this.#pages.set(key, { chunks: runs.map(({ chunk }) => chunk), frame: text, bytes })
    return bytes
  }

  /** Returns one object, as one buffer if it is small; it is immutable. */
  object(entry: CachedObject, form: Form): readonly Buffer[] {
    const known = this.#objects.get(entry)
    if (known?.form === form) return known.parts
    const parts = form.toParts(entry)
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    if (length > maxObjectBytes) return parts
    const joined = [unpooledBuffer(objectBytes(entry, form))]
    this.#objects.set(entry, { form, parts: joined })
    for (const oldest of this.#objects.keys()) {
      if (this.#objects.size <= maxObjects) break
      this.#objects.delete(oldest)
    }
    return joined
  }

  #pieceKey(chunk: Chunk, key: string): string {
    let id = this.#leafIds.get(chunk)
    if (id === undefined) {
      id = ++this.#leafCount
      this.#leafIds.set(chunk, id)
    }
    return `${id} ${key}`
  }
}

/** Distinguishes pages of different lists with the same positions in their chunks. */
function toLeafKey({ runs }: Selection): string {
  const [first] = runs
  return first?.chunk.entries[first.start]?.key ?? ''
}

import { pieceBytes } from '../../httpserver/response/respond.ts'
import type { CachedObject } from '../store/cached-object.ts'
import { type Chunk, entriesOf, type Selection } from '../store/chunk.ts'
import { type GzipPiece, toGzipPiece } from './gzip.ts'

/** The representation of objects in an API. */
export type Form = {
  /** Identifies the projection: those with the same name produce the same result. */
  readonly name: string
  /** Returns the JSON of an object in parts, whose large ones all responses share. */
  readonly toParts: (entry: CachedObject) => readonly Buffer[]
  /** Set if the result is computed from the whole object for each response, and not cached. */
  readonly isComputed?: true
}

export const aggregatedForm: Form = {
  name: 'aggregated',
  toParts: entry => [entry.aggregatedHead(), entry.tail],
}
export const platformForm: Form = { name: 'platform', toParts: entry => [entry.platformHead(), entry.tail] }

/** The text before and after the items of a list. */
export type Frame = { readonly before: string; readonly after: string }

const comma = Buffer.from(',')
// As in kube-apiserver: compressing less costs more than it saves on a local network.
const gzipFromBytes = 128 * 1024
const chunkBytes = pieceBytes / 2
// A longer time slice would noticeably delay other requests.
const sliceMs = 2

export function objectBytes(entry: CachedObject, form: Form): Buffer {
  return Buffer.concat(form.toParts(entry))
}

/** Returns whether the objects are larger than a number of bytes. Stops counting at that number. */
export function isLongerThan(bytes: number, selection: Selection, form: Form): boolean {
  let length = 0
  for (const entry of entriesOf(selection)) {
    // The object is an upper bound for the size of its projection.
    if (form.isComputed) length += entry.size
    else for (const part of form.toParts(entry)) length += part.length
    if (length > bytes) return true
  }
  return false
}

export function isWorthGzip(selection: Selection, form: Form): boolean {
  return isLongerThan(gzipFromBytes, selection, form)
}

/** Returns the JSON of a list as one buffer. */
export function joinList(selection: Selection, form: Form, frame: Frame): Buffer {
  return Buffer.concat([...listParts(selection, form, frame)])
}

/** Generates the JSON of a list in chunks: small parts joined, large ones as they are. */
export function* plainChunks(selection: Selection, form: Form, frame: Frame): Generator<Buffer> {
  yield* joinSmall(listParts(selection, form, frame))
}

export type PieceCache = {
  readonly get: (chunk: Chunk, key: string) => readonly GzipPiece[] | undefined
  readonly set: (chunk: Chunk, key: string, pieces: readonly GzipPiece[]) => void
}

/** Generates the JSON of a list as one gzip body; pieces are compressed only once. */
export function* gzipPieces(
  selection: Selection,
  form: Form,
  frame: Frame,
  cache: PieceCache,
): Generator<GzipPiece> {
  yield toGzipPiece(Buffer.from(frame.before))
  for (const run of selection.runs) {
    const isFirst = run === selection.runs[0]
    const part = { runs: [run], descending: selection.descending }
    const key = `${form.name} ${run.start} ${run.end} ${isFirst} ${selection.descending}`
    const known = form.isComputed ? undefined : cache.get(run.chunk, key)
    if (known !== undefined) {
      yield* known
      continue
    }
    const made: GzipPiece[] = []
    for (const chunk of joinSmall(itemParts(part, form, isFirst))) {
      const piece = toGzipPiece(chunk)
      made.push(piece)
      yield piece
    }
    if (!form.isComputed) cache.set(run.chunk, key, made)
  }
  yield toGzipPiece(Buffer.from(frame.after))
}

function* listParts(selection: Selection, form: Form, frame: Frame): Generator<Buffer> {
  yield Buffer.from(frame.before)
  yield* itemParts(selection, form, true)
  yield Buffer.from(frame.after)
}

/** Generates the items with commas, also before the first unless it begins the list. */
function* itemParts(selection: Selection, form: Form, isFirst: boolean): Generator<Buffer> {
  let isJoined = !isFirst
  for (const entry of entriesOf(selection)) {
    if (isJoined) yield comma
    isJoined = true
    yield* form.toParts(entry)
  }
}

/** Joins small parts to chunks for a write, or until the time slice ends. */
function* joinSmall(parts: Iterable<Buffer>): Generator<Buffer> {
  let small: Buffer[] = []
  let length = 0
  let since = performance.now()
  const take = () => {
    const joined = Buffer.concat(small, length)
    small = []
    length = 0
    since = performance.now()
    return joined
  }
  for (const part of parts) {
    const isLarge = part.length >= chunkBytes
    if (isLarge && length > 0) yield take()
    if (isLarge) yield part
    else {
      small.push(part)
      length += part.length
    }
    if (length >= chunkBytes || (length > 0 && performance.now() - since > sliceMs)) yield take()
  }
  if (length > 0) yield take()
}

import type { Entry } from './entry.ts'
import { type GzipPiece, toGzipPiece } from './gzip.ts'
import { entriesOf, type Run, type Selection } from './leaf.ts'

/** How a face shows an object: its head, and what follows it, which most forms have in common. */
export type Form = {
  readonly name: string
  readonly toHead: (entry: Entry) => Buffer
  readonly toTail: (entry: Entry) => Buffer
}

const toTail = (entry: Entry) => entry.tail

export const aggregatedForm: Form = { name: 'aggregated', toHead: entry => entry.aggregatedHead(), toTail }
export const platformForm: Form = { name: 'platform', toHead: entry => entry.platformHead(), toTail }

/** What stands around the items of a list. */
export type Frame = { readonly before: string; readonly after: string }

const comma = 0x2c
// As kube-apiserver: below this, compressing costs more than it saves on a local network.
const gzipFromBytes = 128 * 1024
const maxMadePerLeaf = 8

/** One object, complete. */
export function objectBytes(entry: Entry, form: Form): Buffer {
  return Buffer.concat([form.toHead(entry), form.toTail(entry)])
}

/** Length of a list's items in bytes, joining commas left out. */
export function itemsLength(selection: Selection, form: Form): number {
  let length = 0
  for (const entry of entriesOf(selection)) length += form.toHead(entry).length + form.toTail(entry).length
  return length
}

export function isWorthGzip(selection: Selection, form: Form): boolean {
  return itemsLength(selection, form) > gzipFromBytes
}

/** The list as a few large buffers, made one by one as they are written: a page is one, a whole list one for each leaf. */
export function* plainChunks(selection: Selection, form: Form, frame: Frame): Generator<Buffer> {
  const [only, second] = selection.runs
  if (second === undefined) {
    yield Buffer.concat([
      Buffer.from(frame.before),
      only ? joinRun(only, selection, form, true) : Buffer.alloc(0),
      Buffer.from(frame.after),
    ])
    return
  }
  yield Buffer.from(frame.before)
  for (const run of selection.runs) yield joinRun(run, selection, form, run === only)
  yield Buffer.from(frame.after)
}

/** The list as the buffers of one gzip body. A leaf that has not changed since the last time is not compressed again. */
export function* gzipPieces(selection: Selection, form: Form, frame: Frame): Generator<GzipPiece> {
  yield toGzipPiece(Buffer.from(frame.before))
  for (const run of selection.runs) yield toPiece(run, selection, form, run === selection.runs[0])
  yield toGzipPiece(Buffer.from(frame.after))
}

function toPiece(run: Run, selection: Selection, form: Form, isFirst: boolean): GzipPiece {
  const { leaf, start, end } = run
  const key = `${form.name} ${start} ${end} ${isFirst} ${selection.descending}`
  const made = leaf.made.get(key)
  if (made !== undefined) return made
  const piece = toGzipPiece(joinRun(run, selection, form, isFirst))
  if (leaf.made.size >= maxMadePerLeaf) leaf.made.clear()
  leaf.made.set(key, piece)
  return piece
}

/** The items of a run, joined by commas; with a comma before the first unless it begins the list. */
function joinRun(run: Run, selection: Selection, form: Form, isFirst: boolean): Buffer {
  const entries = [...entriesOf({ runs: [run], descending: selection.descending })]
  let length = entries.length - (isFirst ? 1 : 0)
  for (const entry of entries) length += form.toHead(entry).length + form.toTail(entry).length
  const joined = Buffer.allocUnsafe(length)
  let at = 0
  for (const entry of entries) {
    if (at > 0 || !isFirst) joined[at++] = comma
    at += form.toHead(entry).copy(joined, at)
    at += form.toTail(entry).copy(joined, at)
  }
  return joined
}

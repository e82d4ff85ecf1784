import { createByteWriter } from './bytes.ts'
import { compress, dictionaryBlockBytes, type Footer } from './segment-format.ts'
import type { Output } from './segment-writer.ts'
import type { WordIndex } from './word-index.ts'

/**
 * A block of the dictionary is: how many bytes its words take, the words, each ended by a zero byte (no word has one), then
 * for each word twice the number of its documents, plus one when its list is a bitmap, and either the length of the list
 * or, when there is one document, that document. The lists follow the last block, in the order of the words.
 */
export function writeDictionary(index: WordIndex, count: number, output: Output): Footer['dictionary'] {
  const { vocabulary, starts, documents } = index
  const arena = vocabulary.bytes()
  const lists = createByteWriter(1 << 20)
  const pieces: Mutable<Footer['dictionary'][number]>[] = []
  const words = createByteWriter(2 * dictionaryBlockBytes)
  const entries = createByteWriter(4096)
  const block = createByteWriter(2 * dictionaryBlockBytes)
  let first = ''
  let listsBefore = 0

  function finishBlock(): void {
    block.clear()
    block.uint32(words.length)
    block.bytes(words.view())
    block.bytes(entries.view())
    pieces.push({ ...output.put(compress(block.view())), first, lists: listsBefore })
    words.clear()
    entries.clear()
    listsBefore = lists.length
  }

  for (const id of vocabulary.sorted()) {
    const [from, to] = [vocabulary.start(id), vocabulary.end(id)]
    if (words.length === 0) first = arena.toString('latin1', from, to)
    words.slice(arena, from, to)
    words.byte(0)
    const [begin, end] = [starts[id] ?? 0, starts[id + 1] ?? 0]
    if (end - begin === 1) {
      entries.varint(2)
      entries.varint(documents[begin] ?? 0)
    } else {
      const before = lists.length
      const isBitmap = writeList(documents.subarray(begin, end), count, lists)
      entries.varint(2 * (end - begin) + (isBitmap ? 1 : 0))
      entries.varint(lists.length - before)
    }
    if (words.length >= dictionaryBlockBytes) finishBlock()
  }
  if (words.length > 0) finishBlock()
  const { offset } = output.put(lists.view())
  return pieces.map(piece => ({ ...piece, lists: piece.lists + offset }))
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Steps from document to document, or one bit for each document of the segment when that is shorter. */
function writeList(
  documents: Uint32Array,
  count: number,
  lists: { readonly varint: (value: number) => void; readonly bytes: (source: Uint8Array) => void },
): boolean {
  const bitmapBytes = 4 * ((count + 31) >>> 5)
  // A step takes a byte at least, and below one in 128 often two.
  if (documents.length >= bitmapBytes) {
    const bits = Buffer.alloc(bitmapBytes)
    for (const document of documents)
      bits[document >>> 3] = (bits[document >>> 3] ?? 0) | (1 << (document & 7))
    lists.bytes(bits)
    return true
  }
  let before = 0
  for (const document of documents) {
    lists.varint(document - before)
    before = document
  }
  return false
}

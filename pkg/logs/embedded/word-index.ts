import { wordsOf } from '../words.ts'
import type { Lines } from './lines.ts'
import { createVocabulary, hashByte, hashSeed, type Vocabulary } from './vocabulary.ts'

/**
 * Words are kept up to this many bytes. A line with a longer one is noted under the empty word, so that a search can look at
 * those lines themselves.
 */
export const maxWordBytes = 64

/** Which lines hold which word. The lines of word `id` are documents[starts[id]] up to documents[starts[id + 1]]. */
export type WordIndex = {
  readonly vocabulary: Vocabulary
  readonly starts: Uint32Array
  readonly documents: Uint32Array
}

const beyondAscii = 0xff

/** For each byte: what it folds to within a word, 0 between words, 0xff for what is not ASCII. */
export const foldTable = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return beyondAscii
  return /[a-z0-9]/i.test(String.fromCharCode(byte))
    ? String.fromCharCode(byte).toLowerCase().charCodeAt(0)
    : 0
})

/** @param order the lines' indexes, in the order in which they become documents 0, 1, 2… */
export function indexWords(lines: Lines, order: Uint32Array): WordIndex {
  const vocabulary = createVocabulary()
  const word = new Uint8Array(maxWordBytes)
  let found = new Uint32Array(1 << 16)
  let used = 0
  // For each word the last document that has it, plus one, and how many have it.
  let seen = new Uint32Array(1 << 15)
  const documentEnds = new Uint32Array(order.length)

  function note(document: number, length: number, hash: number): void {
    const id = vocabulary.idOf(word, length, hash)
    if (2 * id >= seen.length) {
      const wider = new Uint32Array(seen.length * 2)
      wider.set(seen)
      seen = wider
    }
    if (seen[2 * id] === document + 1) return
    seen[2 * id] = document + 1
    seen[2 * id + 1] = (seen[2 * id + 1] ?? 0) + 1
    if (used === found.length) {
      const larger = new Uint32Array(found.length * 2)
      larger.set(found)
      found = larger
    }
    found[used++] = id
  }

  function noteWords(document: number, text: Buffer, start: number, end: number): void {
    let length = 0
    let hash = hashSeed
    for (let at = start; at <= end; at += 1) {
      const byte = at === end ? 0 : (foldTable[text[at] ?? 0] ?? 0)
      if (byte === beyondAscii) {
        noteUnicode(document, text.toString('utf8', start, end))
        return
      }
      if (byte !== 0) {
        if (length < maxWordBytes) {
          word[length] = byte
          hash = hashByte(hash, byte)
        }
        length += 1
      } else if (length > 0) {
        noteWord(document, length, hash)
        length = 0
        hash = hashSeed
      }
    }
  }

  function noteWord(document: number, length: number, hash: number): void {
    note(document, Math.min(length, maxWordBytes), hash)
    if (length > maxWordBytes) note(document, 0, hashSeed)
  }

  function noteUnicode(document: number, text: string): void {
    for (const found of wordsOf(text)) {
      const bytes = Buffer.from(found)
      let hash = hashSeed
      for (let i = 0; i < Math.min(bytes.length, maxWordBytes); i += 1) {
        word[i] = bytes[i] ?? 0
        hash = hashByte(hash, bytes[i] ?? 0)
      }
      noteWord(document, bytes.length, hash)
    }
  }

  for (let document = 0; document < order.length; document += 1) {
    const line = order[document] ?? 0
    noteWords(document, lines.text, lines.textStarts[line] ?? 0, lines.textStarts[line + 1] ?? 0)
    documentEnds[document] = used
  }
  return { vocabulary, ...gather(found, documentEnds, countsOf(seen, vocabulary.size)) }
}

function countsOf(seen: Uint32Array, size: number): Uint32Array {
  const counts = new Uint32Array(size)
  for (let id = 0; id < size; id += 1) counts[id] = seen[2 * id + 1] ?? 0
  return counts
}

/** From the words of each line to the lines of each word. */
function gather(
  found: Uint32Array,
  documentEnds: Uint32Array,
  counts: Uint32Array,
): { readonly starts: Uint32Array; readonly documents: Uint32Array } {
  const starts = new Uint32Array(counts.length + 1)
  for (let id = 0; id < counts.length; id += 1) starts[id + 1] = (starts[id] ?? 0) + (counts[id] ?? 0)
  const next = starts.slice()
  const documents = new Uint32Array(starts[counts.length] ?? 0)
  let at = 0
  for (let document = 0; document < documentEnds.length; document += 1) {
    for (const end = documentEnds[document] ?? 0; at < end; at += 1) {
      const id = found[at] ?? 0
      const place = next[id] ?? 0
      documents[place] = document
      next[id] = place + 1
    }
  }
  return { starts, documents }
}

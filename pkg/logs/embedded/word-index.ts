import { wordsOf } from '../words.ts'
import type { Lines } from './lines.ts'
import { createVocabulary, hashByte, hashBytes, hashSeed, type Vocabulary } from './vocabulary.ts'
import { maxPositions, type WordLists, type WordsOfLines } from './word-lists.ts'

/**
 * Words are kept up to this many bytes. A line with a longer one is noted under the empty word, so that a search can look at
 * those lines themselves.
 */
export const maxWordBytes = 64

/**
 * No word is empty or a blank: what is noted under these says something of the line itself. `manyWords` are more than have
 * positions.
 */
export const longWord = ''
export const manyWords = ' '

export type WordIndex = WordLists & { readonly vocabulary: Vocabulary }

const beyondAscii = 0xff

/** For each byte: what it folds to within a word, 0 between words, 0xff for what is not ASCII. */
export const foldTable = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return beyondAscii
  return /[a-z0-9]/i.test(String.fromCharCode(byte))
    ? String.fromCharCode(byte).toLowerCase().charCodeAt(0)
    : 0
})

/** Less than half a millisecond. */
const turn = 64
/** As many as lines have that are put into a segment at once, and some more. */
const keptWords = 1 << 21

/**
 * Indexes the words of lines; it yields now and then.
 *
 * @param order the lines' indexes, in the order in which they become documents 0, 1, 2…
 */
export type Indexer<Lists> = (
  lines: Lines,
  order: Uint32Array,
) => Generator<void, Lists & { readonly vocabulary: Vocabulary }>

/**
 * Indexes lines, and then others, in memory that is used again: one index at a time, which holds until the next is begun. What
 * is made anew for each is most of a thread's garbage, and more than a collector waits for.
 */
export function createIndexer<Lists>(
  gather: (words: WordsOfLines) => Generator<void, Lists>,
): Indexer<Lists> {
  let vocabulary = createVocabulary()
  const word = new Uint8Array(maxWordBytes)
  let found = new Uint32Array(1 << 16)
  let used = 0
  // For each word: the last document that has it, plus one; how many have it; how often it is there.
  let seen = new Uint32Array(3 << 14)
  let documentEnds = new Uint32Array(0)
  let special = { longWord: 0, manyWords: 0 }

  function begin(documents: number): void {
    if (found.length > keptWords) {
      // Many lines at once are no reason to keep that much.
      vocabulary = createVocabulary()
      found = new Uint32Array(1 << 16)
      seen = new Uint32Array(3 << 14)
    } else {
      vocabulary.clear()
      seen.fill(0)
    }
    used = 0
    if (documentEnds.length < documents) documentEnds = new Uint32Array(documents)
    special = { longWord: vocabulary.idOf(new Uint8Array(0), 0, hashSeed), manyWords: blankId(vocabulary) }
  }

  function note(document: number, id: number): void {
    if (3 * id >= seen.length) {
      const wider = new Uint32Array(seen.length * 2)
      wider.set(seen)
      seen = wider
    }
    if (seen[3 * id] !== document + 1) {
      seen[3 * id] = document + 1
      seen[3 * id + 1] = (seen[3 * id + 1] ?? 0) + 1
    } else if (used - (documentEnds[document - 1] ?? 0) >= maxPositions) return
    seen[3 * id + 2] = (seen[3 * id + 2] ?? 0) + 1
    if (used === found.length) {
      const larger = new Uint32Array(found.length * 2)
      larger.set(found)
      found = larger
    }
    found[used++] = id
  }

  function noteWords(document: number, text: Buffer, start: number, end: number): void {
    let count = 0
    let length = 0
    let hash = hashSeed
    for (let at = start; at <= end; at += 1) {
      const byte = at === end ? 0 : (foldTable[text[at] ?? 0] ?? 0)
      if (byte === beyondAscii) {
        noteUnicode(document, text.toString('utf8', start, end), count)
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
        count += 1
        length = 0
        hash = hashSeed
      }
    }
  }

  function noteWord(document: number, length: number, hash: number): void {
    note(document, vocabulary.idOf(word, Math.min(length, maxWordBytes), hash))
    if (length > maxWordBytes) note(document, special.longWord)
  }

  /** @param known how many words were noted already, as they come before what is not ASCII */
  function noteUnicode(document: number, text: string, known: number): void {
    const words = wordsOf(text)
    for (let i = known; i < words.length; i += 1) {
      const bytes = Buffer.from(words[i] ?? '')
      word.set(bytes.subarray(0, maxWordBytes))
      noteWord(document, bytes.length, hashBytes(bytes, 0, Math.min(bytes.length, maxWordBytes)))
    }
  }

  return function* (lines, order) {
    begin(order.length)
    for (let document = 0; document < order.length; document += 1) {
      if (document % turn === turn - 1) yield
      const line = order[document] ?? 0
      const before = used
      noteWords(document, lines.text, lines.textStarts[line] ?? 0, lines.textStarts[line + 1] ?? 0)
      if (used - before >= maxPositions) note(document, special.manyWords)
      documentEnds[document] = used
    }
    yield
    const ends = documentEnds.subarray(0, order.length)
    const lists = yield* gather({ found, documentEnds: ends, seen, size: vocabulary.size, ...special })
    return { ...lists, vocabulary }
  }
}

function blankId(vocabulary: Vocabulary): number {
  const blank = Buffer.from(manyWords)
  return vocabulary.idOf(blank, blank.length, hashByte(hashSeed, blank[0] ?? 0))
}

import { type Bitmap, setBit } from './bitmap.ts'
import type { Dictionary } from './dictionary.ts'
import { createOccurrences, findOccurrences, type Occurrences } from './postings.ts'

// Beyond these, reading the lines costs less than reading what words of theirs begin so.
const mostEndings = 256

/**
 * The documents, of those that have all the words, in which they stand side by side; undefined when only the lines can tell.
 *
 * @param prefix the last word need only begin so
 */
export function findSideBySide(
  dictionary: Dictionary,
  words: readonly string[],
  prefix: boolean,
  among: Bitmap,
): Bitmap | undefined {
  let found: Occurrences | undefined
  const bits = new Uint32Array(among.length)
  for (const [i, word] of words.entries()) {
    const isLast = i === words.length - 1
    const postings = dictionary.postings(word, prefix && isLast, mostEndings)
    if (postings === undefined) return undefined
    for (const posting of postings) {
      const own = findOccurrences(posting, among)
      const together: Occurrences = found === undefined ? own : follow(found, own)
      if (isLast) for (const document of together.documents) setBit(bits, document)
      else found = together
    }
  }
  return bits
}

/** Those of `next` that stand right behind one of `before`. */
function follow(before: Occurrences, next: Occurrences): Occurrences {
  const found = createOccurrences(Math.min(before.documents.length, next.documents.length))
  let at = 0
  for (let i = 0; i < next.documents.length; i += 1) {
    const document = next.documents[i] ?? 0
    const wanted = (next.positions[i] ?? 0) - 1
    while (isBefore(before, at, document, wanted)) at += 1
    if (before.documents[at] !== document || before.positions[at] !== wanted) continue
    found.add(document, wanted + 1)
  }
  return found.all()
}

function isBefore(
  { documents, positions }: Occurrences,
  at: number,
  document: number,
  position: number,
): boolean {
  const own = documents[at] ?? Number.POSITIVE_INFINITY
  return own < document || (own === document && (positions[at] ?? 0) < position)
}

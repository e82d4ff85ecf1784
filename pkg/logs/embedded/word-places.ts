// The words of a block of a dictionary, each ended by a zero byte.

/**
 * Where a text is found among words.
 *
 * @param shift how far behind its beginning the word is that is meant
 * @param found where what is found is added
 */
export function positions(
  words: Buffer,
  wanted: Buffer,
  shift: number,
  found: number[] = [],
): readonly number[] {
  for (let at = words.indexOf(wanted); at >= 0; at = words.indexOf(wanted, at + 1)) {
    // Where the last word ends there is no other that could begin.
    if (at + shift < words.length) found.push(at + shift)
  }
  return found
}

/** The numbers of the words at these places, each once. */
export function numbersOf(words: Buffer, places: readonly number[]): readonly number[] {
  const numbers: number[] = []
  let number = 0
  let at = 0
  for (const place of places) {
    for (; at < place; at += 1) if (words[at] === 0) number += 1
    if (numbers.at(-1) !== number) numbers.push(number)
  }
  return numbers
}

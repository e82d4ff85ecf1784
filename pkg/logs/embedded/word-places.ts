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

/** Where a whole word begins among words in the order of their bytes; -1 when it is not there. */
export function placeOf(words: Buffer, wanted: Buffer): number {
  let [low, high] = [0, words.length]
  while (low < high) {
    let start = (low + high) >>> 1
    while (start > low && words[start - 1] !== 0) start -= 1
    const end = words.indexOf(0, start)
    const difference = words.compare(wanted, 0, wanted.length, start, end)
    if (difference === 0) return start
    if (difference < 0) low = end + 1
    else high = start
  }
  return -1
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

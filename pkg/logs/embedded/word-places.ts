// The words of a block of a dictionary, each ended by a zero byte.

/** The words with a text within: their numbers, in order. */
export function numbersWith(words: Buffer, text: Buffer): readonly number[] {
  const numbers: number[] = []
  let number = 0
  let from = 0
  for (let at = words.indexOf(text); at >= 0; at = words.indexOf(text, at + 1)) {
    number += countWords(words, from, at)
    from = at
    if (numbers.at(-1) !== number) numbers.push(number)
  }
  return numbers
}

/** How many words end between two places. */
export function countWords(words: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at += 1) if (words[at] === 0) count += 1
  return count
}

/** Where a whole word begins, among words in the order of their bytes; -1 when it is not there. */
export function placeOf(words: Buffer, wanted: Buffer): number {
  const place = firstPlace(words, (start, end) => words.compare(wanted, 0, wanted.length, start, end) < 0)
  const end = place + wanted.length
  const isThere = words[end] === 0 && words.compare(wanted, 0, wanted.length, place, end) === 0
  return isThere ? place : -1
}

/** Where the words that begin with something are, among words in the order of their bytes. */
export function rangeOf(words: Buffer, prefix: Buffer): { readonly from: number; readonly to: number } {
  const compare = (start: number, end: number): number =>
    words.compare(prefix, 0, prefix.length, start, Math.min(start + prefix.length, end))
  return {
    from: firstPlace(words, (start, end) => compare(start, end) < 0),
    to: firstPlace(words, (start, end) => compare(start, end) <= 0),
  }
}

/** Where the first word begins that is not before what is looked for; the end when all are. */
function firstPlace(words: Buffer, isBefore: (start: number, end: number) => boolean): number {
  let [low, high] = [0, words.length]
  while (low < high) {
    let start = (low + high) >>> 1
    while (start > low && words[start - 1] !== 0) start -= 1
    const end = words.indexOf(0, start)
    if (isBefore(start, end)) low = end + 1
    else high = start
  }
  return low
}

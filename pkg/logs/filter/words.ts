const wordPattern = /[\p{sc=Han}\p{sc=Hira}]|(?:(?![\p{sc=Han}\p{sc=Hira}])[\p{L}\p{N}\p{M}])+/gu
const single = /^[\p{sc=Han}\p{sc=Hira}]$/u
const ofWord = /^[\p{L}\p{N}\p{M}]$/u

/**
 * Returns the words of a text in folded case. A word is a run of letters, digits and marks. Han and
 * Hiragana characters are words by themselves, since these scripts have no spaces. `a_b` is two
 * words, `10.0.0.1` is four.
 *
 * An equivalent analyzer of OpenSearch is a `pattern` tokenizer with `group: 0` on
 * `[\p{IsHan}\p{IsHiragana}]|[\p{L}\p{N}\p{M}&&[^\p{IsHan}\p{IsHiragana}]]+`, then `lowercase`.
 */
export function wordsOf(text: string): readonly string[] {
  return fold(text).match(wordPattern) ?? []
}

/** Returns `whole` for a code point that is a word, `part` within one, otherwise `none`. */
export function wordRole(codePoint: number): 'none' | 'part' | 'whole' {
  if (codePoint < 0x80) return isAsciiWord(codePoint) ? 'part' : 'none'
  const character = String.fromCodePoint(codePoint)
  if (single.test(character)) return 'whole'
  return ofWord.test(character) ? 'part' : 'none'
}

/**
 * Folds case by code point, except where that would change the length. Folding a substring thus
 * gives a substring of the folded text, unlike toLowerCase, which depends on neighbours for the
 * final sigma.
 */
export function fold(text: string): string {
  // Without these characters, toLowerCase of the text equals that of each code point.
  if (!/[\u0130\u017f\u03a3]/.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) folded += foldCharacter(character)
  return folded
}

export function foldCharacter(character: string): string {
  // Only s, k and i have a third case variant: long s, the Kelvin sign (see toLowerCase), and the
  // Turkish I with a dot.
  if (character === '\u017f') return 's'
  if (character === '\u0130') return 'i'
  const lower = character.toLowerCase()
  return lower.length === character.length ? lower : character
}

function isAsciiWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a)
}

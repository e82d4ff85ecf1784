const wordPattern = /[\p{L}\p{N}\p{M}]+/gu

/**
 * The words of a text, folded: runs of letters, digits and marks. So `a_b` is two words, `10.0.0.1` is four, and
 * punctuation is never part of one. An analyzer of OpenSearch that does the same is a `pattern` tokenizer on
 * `[^\p{L}\p{N}\p{M}]+`, then `lowercase`.
 */
export function wordsOf(text: string): readonly string[] {
  return fold(text).match(wordPattern) ?? []
}

/** Whether a code point belongs to a word. */
export function isWordCharacter(codePoint: number): boolean {
  if (codePoint < 0x80) {
    return (
      (codePoint >= 0x61 && codePoint <= 0x7a) ||
      (codePoint >= 0x30 && codePoint <= 0x39) ||
      (codePoint >= 0x41 && codePoint <= 0x5a)
    )
  }
  return /^[\p{L}\p{N}\p{M}]$/u.test(String.fromCodePoint(codePoint))
}

/**
 * Without case: each code point by itself, so that a part of a text folds to a part of its fold (toLowerCase looks at
 * neighbours, for the final sigma), and only where that leaves one code point.
 */
export function fold(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the point
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) folded += foldCharacter(character)
  return folded
}

function foldCharacter(character: string): string {
  const lower = character.toLowerCase()
  return lower.length === character.length ? lower : character
}

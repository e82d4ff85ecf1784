// Both convert each character for itself, as Go does. JavaScript also considers neighbours (the final
// sigma), and converts some characters to several (`ß` to `SS`).

/** Converts a text to lower case. */
export function toLowerCase(text: string): string {
  if (!/[\u0130\u03a3]/.test(text)) return text.toLowerCase()
  return text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase()
}

/** Converts a text to upper case. */
export function toUpperCase(text: string): string {
  const upper = text.toUpperCase()
  // A character that becomes several makes the text longer.
  if (upper.length === text.length) return upper
  return text.replaceAll(/[\s\S]/gu, character => {
    const converted = character.toUpperCase()
    return converted.length === character.length ? converted : (capitals.get(character) ?? character)
  })
}

/** Greek letters with iota subscript, which are one character in upper case, too. */
const capitals: ReadonlyMap<string, string> = new Map(
  Array.from({ length: 0x80 }, (_, i) => String.fromCodePoint(0x1f80 + i))
    .map(capital => [capital.toLowerCase(), capital] as const)
    .filter(([small, capital]) => small !== capital && small.toUpperCase().length > 1),
)

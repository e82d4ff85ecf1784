/** Words in lower case that YAML 1.1 or one of its parsers does not read as strings. */
const words = new Set([
  ...['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'],
  ...['nan', 'inf', 'infinity'],
])

// The yaml package reads e1 as a number of YAML 1.1.
const almostNumber = /^e[+-]?[\d_]/i
// Plain scalars begin with a letter or slash, which excludes numbers, times and indicators. After a
// colon or a space another of the listed characters must follow: `a: b` and `a #b` are not plain.
const plain = /^[A-Za-z/](?:[\w./@=+()%$~;<>?^|,*-]|[ :](?=[\w./@=+()%$~;<>?^|,*-]))*$/
// Invisible or unprintable characters: controls, format characters, surrogates, unassigned code
// points, and line and paragraph separators.
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu
const unseenInLines = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u

/** Writes a string on one line: plain if all parsers read a string, else in quotes. */
export function toScalar(text: string): string {
  return plain.test(text) && !almostNumber.test(text) && !words.has(text.toLowerCase())
    ? text
    : toQuoted(text)
}

/** Writes a string in double quotes, with U+FFFD for lone surrogates, as in JSON. */
export function toQuoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(unseen, toEscape)
}

export function toEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}

/**
 * Writes a string of several lines as a block literal with the indentation `indent`. Returns
 * undefined if parsers could read it differently: with an empty or indented first line, trailing
 * spaces, tabs, or several line feeds at the end.
 */
export function toLiteral(text: string, indent: string): string | undefined {
  if (!text.includes('\n') || /^[ \n]|[ ]\n|[ ]$|\n\n$/.test(text) || unseenInLines.test(text))
    return undefined
  const isEnded = text.endsWith('\n')
  const lines = (isEnded ? text.slice(0, -1) : text).split('\n')
  return `${isEnded ? '|' : '|-'}\n${lines.map(line => (line === '' ? '' : indent + line)).join('\n')}`
}

/**
 * Writes a JSON number in the syntax of YAML 1.1: an exponent must have a sign and follow a
 * fraction, and negative zero must be a float.
 */
export function toNumber(source: string): string {
  if (source === '-0') return '-0.0'
  const [mantissa = '', exponent] = source.split(/e/i)
  if (exponent === undefined) return source
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}e${/^[+-]/.test(exponent) ? '' : '+'}${exponent}`
}

/**
 * Words that YAML 1.1 (yaml.org/type) or one of its parsers does not read as text, ignoring case.
 */
const words = new Set([
  ...['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'],
  ...['nan', 'inf', 'infinity'],
])

// A letter or slash first, so that it is neither a number, a time nor an indicator; a colon or
// space only before a character that continues the text. The yaml package reads e1 as a number of
// YAML 1.1.
const almostNumber = /^e[+-]?[\d_]/i
const plain = /^[A-Za-z/](?:[\w./@=+()%$~;<>?^|,*-]|[ :](?=[\w./@=+()%$~;<>?^|,*-]))*$/
// Characters that are invisible or not printable: controls, line separators, format characters,
// surrogates, unassigned ones.
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu
const unseenInLines = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u

/** A string on one line: plain if every parser reads it as text, otherwise in double quotes. */
export function toScalar(text: string): string {
  return plain.test(text) && !almostNumber.test(text) && !words.has(text.toLowerCase())
    ? text
    : toQuoted(text)
}

/**
 * A string in double quotes. A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD, as in
 * other encoders of the JSON.
 */
export function toQuoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(unseen, toEscape)
}

function toEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}

/**
 * Formats text of several lines as a block literal with `indent`; undefined if it could be read
 * differently: with an empty or indented first line, trailing spaces, tabs, or several line feeds
 * at the end.
 */
export function toLiteral(text: string, indent: string): string | undefined {
  if (!text.includes('\n') || /^[ \n]|[ ]\n|[ ]$|\n\n$/.test(text) || unseenInLines.test(text))
    return undefined
  const isEnded = text.endsWith('\n')
  const lines = (isEnded ? text.slice(0, -1) : text).split('\n')
  return `${isEnded ? '|' : '|-'}\n${lines.map(line => (line === '' ? '' : indent + line)).join('\n')}`
}

/**
 * Formats a JSON number in the syntax of YAML 1.1: an exponent needs a fraction before it and a
 * sign, and a negative zero must be a float.
 */
export function toNumber(source: string): string {
  if (source === '-0') return '-0.0'
  const [mantissa = '', exponent] = source.split(/e/i)
  if (exponent === undefined) return source
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}e${/^[+-]/.test(exponent) ? '' : '+'}${exponent}`
}

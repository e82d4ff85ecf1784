/** The type of a plain scalar in go-yaml 2, which kubectl uses. */
export type PlainKind = 'string' | 'null' | 'bool' | 'number'

const truths = new Set(['y', 'yes', 'true', 'on'])
const falsehoods = new Set(['n', 'no', 'false', 'off'])
const nulls = new Set(['', '~', 'null', 'Null', 'NULL'])
const notANumber = /^(\.nan|\.NaN|\.NAN|[-+]?(\.inf|\.Inf|\.INF))$/
const integer = /^[-+]?(0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/
const decimal = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/
// After a leading decimal point, Go requires a digit on both sides of `_`. Elsewhere go-yaml first
// removes `_`.
const badFraction = /^\..*(?:(?<!\d)_|_(?!\d))/
const [least, most] = [-(2n ** 63n), 2n ** 64n - 1n]

/**
 * Resolves a plain scalar without a tag like go-yaml 2.4 (resolve.go). `12:30:45` and dates are
 * strings there, unlike in YAML 1.1.
 */
export function resolvePlain(text: string): PlainKind {
  if (nulls.has(text)) return 'null'
  if (isBool(text)) return 'bool'
  if (notANumber.test(text)) return 'number'
  if (!/^[-+.\d]/.test(text) || badFraction.test(text)) return 'string'
  const digits = text.replaceAll('_', '')
  if (integer.test(digits) && isInRange(digits)) return 'number'
  return decimal.test(digits) && isFinite64(digits) ? 'number' : 'string'
}

/** Returns the value of a plain scalar of kind bool. */
export function isTrue(text: string): boolean {
  return truths.has(text.toLowerCase())
}

/** Reports whether a scalar is a boolean of YAML 1.1, such as `Yes`, but not `yEs`. */
function isBool(text: string): boolean {
  const lower = text.toLowerCase()
  if (!truths.has(lower) && !falsehoods.has(lower)) return false
  return (
    text === lower || text === text.toUpperCase() || text === lower.charAt(0).toUpperCase() + lower.slice(1)
  )
}

function isInRange(digits: string): boolean {
  const unsigned = digits.replace(/^[-+]/, '')
  const octal = /^0[0-7]/.test(unsigned) ? `0o${unsigned.slice(1)}` : unsigned
  const value = digits.startsWith('-') ? -BigInt(octal) : BigInt(octal)
  return value >= least && value <= most
}

function isFinite64(text: string): boolean {
  return Number.isFinite(Number(text))
}

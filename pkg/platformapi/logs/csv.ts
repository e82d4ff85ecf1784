// What a spreadsheet may take for a formula (OWASP, "CSV Injection"): the ASCII signs, and their
// full-width and small forms, which East Asian versions read as the same; behind blanks, quotes and
// control characters too, which some take off.
const sign = String.raw`[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b]`
const skipped = String.raw`[\s'"\p{Cc}\p{Cf}]*`
const formula = new RegExp(String.raw`^${skipped}${sign}|^'*[\t\r\n]`, 'u')
// A spreadsheet whose separator is not the comma begins a cell inside of one. What follows is
// looked at by itself: behind a lookahead each of many tabs would be tried as the first.
const innerStart = new RegExp(`[;\\t]${skipped}`, 'gu')
const startsWithSign = new RegExp(sign, 'uy')

/**
 * Formats a row (RFC 4180). A cell that a spreadsheet could interpret as a formula is prefixed with
 * an apostrophe, also after a semicolon or tab, which other spreadsheets use as separators.
 * docs/logs.md says how programs remove it.
 */
export function toCsvRow(values: readonly string[]): string {
  return `${values.map(toCell).join(',')}\r\n`
}

function toCell(value: string): string {
  const text = value.replaceAll(innerStart, (start: string, at: number) =>
    isSignAt(value, at + start.length) ? `${start}'` : start,
  )
  if (formula.test(value)) return `"'${text.replaceAll('"', '""')}"`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function isSignAt(text: string, at: number): boolean {
  startsWithSign.lastIndex = at
  return startsWithSign.test(text)
}

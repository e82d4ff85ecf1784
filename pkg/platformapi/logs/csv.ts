// Characters that spreadsheets may interpret as a formula (OWASP, "CSV Injection"): ASCII signs,
// and their full-width and small forms, which East Asian versions treat as the same; also after
// spaces, quotes and control characters, which some spreadsheets remove.
const sign = String.raw`[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b]`
const skipped = String.raw`[\s'"\p{Cc}\p{Cf}]*`
const formula = new RegExp(String.raw`^${skipped}${sign}|^'*[\t\r\n]`, 'u')
// A spreadsheet with another separator begins a cell inside of one. The rest is checked separately:
// with a lookahead, each of many tabs would be tried first.
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

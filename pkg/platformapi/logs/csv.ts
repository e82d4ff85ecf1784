// What a spreadsheet may take for a formula (OWASP, "CSV Injection"), behind blanks and quotes too, which some take off. The
// second half are the full-width forms, which East Asian versions read as the same.
const formula = /^[\s'"\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^'*[\t\r\n]/u

/**
 * A row of RFC 4180. A cell that a spreadsheet could take for a formula has an apostrophe before it, which makes it text there. A
 * program gets the text back by taking one apostrophe off each cell that begins with one and would be a formula (see docs/logs.md).
 */
export function toCsvRow(values: readonly string[]): string {
  return `${values.map(toCell).join(',')}\r\n`
}

function toCell(value: string): string {
  if (formula.test(value)) return `"'${value.replaceAll('"', '""')}"`
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

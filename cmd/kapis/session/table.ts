import { printable } from './printable.ts'

/** Formats a table like kubectl. */
export function toTable(cells: readonly (readonly string[])[]): string {
  const rows = cells.map(row => row.map(printable))
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? []
  const lines = rows.map(row => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('   '))
  return lines.map(line => `${line.trimEnd()}\n`).join('')
}

/**
 * Parses a table that kubectl printed: a row per line, by column name. Columns are located by the
 * start of their headers, since cells may contain spaces.
 */
export function parseColumns(text: string): readonly Readonly<Record<string, string>>[] {
  const [header = '', ...lines] = text.split('\n').filter(line => line !== '')
  const columns = [...header.matchAll(/\S+(?: \S+)*/g)].map(match => ({ name: match[0], start: match.index }))
  return lines.map(line =>
    Object.fromEntries(
      columns.map(({ name, start }, i) => [name, line.slice(start, columns[i + 1]?.start).trim()]),
    ),
  )
}

/** Returns rows without the given columns, such as those that change with time. */
export function without(
  rows: readonly Readonly<Record<string, string>>[],
  ...names: readonly string[]
): readonly Readonly<Record<string, string>>[] {
  return rows.map(row => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name))))
}

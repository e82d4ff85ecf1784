/**
 * Formats a row of Kapis or VictoriaLogs for comparison. Omits stream IDs, which the two assign
 * differently. Rounds fractions: the last digits of sums depend on the order of lines.
 */
export function toComparable(row: Readonly<Record<string, string>>): string {
  const members = Object.entries(row)
    .filter(([name]) => name !== '_stream_id')
    .map(([name, value]) => [
      name,
      /^-?\d+\.\d+$/.test(value) ? String(Number(Number(value).toPrecision(12))) : value,
    ])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
  return JSON.stringify(members)
}

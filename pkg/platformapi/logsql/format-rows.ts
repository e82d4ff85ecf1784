import type { Pipe } from '../../logs/logsql/query.ts'
import type { Row } from '../../logs/logsql/row.ts'

/** Returns a function that formats a row as JSON, with sorted fields unless pipes order them. */
export function createRowFormat(pipes: readonly Pipe[]): (row: Row) => string {
  const deciding = pipes.findLast(({ kind }) => !['filter', 'sort', 'limit', 'offset'].includes(kind))
  const isGiven =
    deciding !== undefined &&
    (deciding.kind === 'stats' ||
      deciding.kind === 'uniq' ||
      deciding.kind === 'top' ||
      deciding.kind === 'fieldNames' ||
      (deciding.kind === 'fields' && deciding.fields.every(field => !field.endsWith('*'))))
  return row => {
    const members = [...row]
    if (!isGiven) members.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}\n`
  }
}

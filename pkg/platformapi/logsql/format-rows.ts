import type { Pipe } from '../../logs/logsql/query.ts'
import type { Row } from '../../logs/logsql/row.ts'

/** Rows as JSON, one a line: by name, or in the order that the last pipes give. */
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

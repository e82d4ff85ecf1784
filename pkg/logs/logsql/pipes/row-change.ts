import type { LogRecord } from '../../record.ts'
import type { RowQuery } from '../../store.ts'
import { createRowTest } from '../match-row.ts'
import type { RowPipe } from '../query.ts'
import { type Row, toRow } from '../row.ts'
import {
  addExtracted,
  addFormat,
  addLength,
  addMath,
  addUnpacked,
  keepFields,
  passFilter,
} from './row-stages.ts'

/** Creates a function that changes a row, or returns undefined to drop it. */
export function createRowChange(pipe: RowPipe): (row: Row) => Row | undefined {
  switch (pipe.kind) {
    case 'fields':
      return keepFields(pipe)
    case 'filter':
      return passFilter(pipe)
    case 'len':
      return addLength(pipe)
    case 'math':
      return addMath(pipe)
    case 'format':
      return addFormat(pipe)
    case 'extract':
      return addExtracted(pipe)
    case 'unpack':
      return addUnpacked(pipe)
  }
}

/** Creates a function that makes a row of a line and applies the pipes, or drops it. */
export function createLineRow({
  test,
  pipes,
  fields,
}: Pick<RowQuery, 'test' | 'pipes' | 'fields'>): (record: LogRecord) => Row | undefined {
  const passes = createRowTest(test)
  const changes = pipes.map(createRowChange)
  const selected = fields && new Set(fields)
  return record => {
    const row = toRow(record, selected)
    if (!passes(row)) return undefined
    let changed: Row | undefined = row
    for (const change of changes) {
      changed = change(changed)
      if (changed === undefined) return undefined
    }
    return changed
  }
}

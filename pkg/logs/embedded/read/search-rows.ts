import { neededFields } from '../../logsql/pipes/needed-fields.ts'
import { createLineRow } from '../../logsql/pipes/row-change.ts'
import { sizeOfRow } from '../../logsql/pipes/stage.ts'
import { ownField, type Row } from '../../logsql/row.ts'
import type { LogQuery, RowPage, RowQuery } from '../../store.ts'
import type { FoundPage } from './search.ts'
import { type FoundLine, type LineParts, wholeLines } from './selected-lines.ts'
import type { Work } from './selection.ts'

// Number of lines per page. Pages grow, because a small first page is often enough.
const lines = { first: 1000, most: 8000 }
// Maximum length of a page of lines. Each concurrent query keeps a page in memory until all its
// lines are rows.
const maxLineChars = 2 * 1024 * 1024
// Maximum size of a page of rows, which may be much larger than their lines.
const maxBytes = 4 * 1024 * 1024

/** Searches a page of rows. @param page finds the lines of a page, of at most `maxChars` */
export function* searchRows(
  page: (query: LogQuery, maxChars: number) => Work<FoundPage>,
  { filter, order, start: first, size, ...step }: RowQuery,
): Work<RowPage> {
  const toRowOf = createReader(step)
  const rows: Row[] = []
  let bytes = 0
  let start = first
  for (let count = lines.first; ; ) {
    const found = yield* page({ filter, order, size: count, start, withTotal: false }, maxLineChars)
    for (const line of found.lines) {
      // Lets other queries proceed: a filter may take long on a line.
      yield
      const row = toRowOf(line)
      if (row === undefined) continue
      rows.push(row)
      bytes += sizeOfRow(row)
      if (rows.length >= size || bytes > maxBytes) return { rows, next: line.cursor() }
    }
    const last = found.lines.at(-1)
    if (last === undefined || (found.lines.length < count && !found.isCut)) return { rows }
    start = { after: last.cursor() }
    // Reads at most twice as many lines as the last page had: pages of long lines have few lines.
    count = Math.min(2 * found.lines.length, lines.most)
  }
}

/**
 * Creates a function that reads a line as a row. If the test needs fewer fields than the row, lines
 * that fail it are read only as far as the test needs.
 */
function createReader(
  step: Pick<RowQuery, 'test' | 'pipes' | 'fields'>,
): (line: FoundLine) => Row | undefined {
  const parts = partsFor(step.fields)
  const toLineRow = createLineRow(step)
  const tested = neededFields(step.test, [{ kind: 'fields', fields: [] }])
  const isWhole = step.test.op === 'all' || tested === undefined || step.fields?.length === tested.length
  if (isWhole) return line => toLineRow(line.read(parts))
  const partsOfTest = partsFor(tested)
  const test = createLineRow({ ...step, pipes: [], fields: tested })
  return line => (test(line.read(partsOfTest)) === undefined ? undefined : toLineRow(line.read(parts)))
}

/** Returns what is read of each line for a row with the given fields. */
function partsFor(fields: RowQuery['fields']): LineParts {
  if (fields === undefined) return wholeLines
  return { text: fields.includes('_msg'), fields: fields.flatMap(name => ownField(name) ?? []) }
}

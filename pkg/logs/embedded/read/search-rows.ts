import { createLineRow } from '../../logsql/pipes/row-change.ts'
import { sizeOfRow } from '../../logsql/pipes/stage.ts'
import { ownField, type Row } from '../../logsql/row.ts'
import type { LogQuery, QueryResult, RowPage, RowQuery } from '../../store.ts'
import type { PageLimits } from './search.ts'
import { type LineParts, wholeLines } from './selected-lines.ts'
import type { Work } from './selection.ts'

// Number of lines per page. Pages grow, because a small first page is often enough.
const lines = { first: 1000, most: 8000 }
// Maximum length of a page of lines. Each concurrent query keeps a page in memory until all its
// lines are rows.
const maxLineChars = 2 * 1024 * 1024
// Maximum size of a page of rows, which may be much larger than their lines.
const maxBytes = 4 * 1024 * 1024

/** Searches a page of rows. @param page searches a page of lines */
export function* searchRows(
  page: (asked: LogQuery, limits: PageLimits) => Work<QueryResult>,
  { filter, order, start: first, size, ...step }: RowQuery,
): Work<RowPage> {
  const toLineRow = createLineRow(step)
  const limits = { maxChars: maxLineChars, parts: partsFor(step.fields) }
  const rows: Row[] = []
  let bytes = 0
  let start = first
  for (let count = lines.first; ; ) {
    const { hits, isCut } = yield* page({ filter, order, size: count, start, withTotal: false }, limits)
    for (const { record, cursor } of hits) {
      // Lets other queries proceed: a filter may take long on a line.
      yield
      const row = toLineRow(record)
      if (row === undefined) continue
      rows.push(row)
      bytes += sizeOfRow(row)
      if (rows.length >= size || bytes > maxBytes) return { rows, next: cursor }
    }
    const last = hits.at(-1)
    if (last === undefined || (hits.length < count && !isCut)) return { rows }
    start = { after: last.cursor }
    // Reads at most twice as many lines as the last page had: pages of long lines have few lines.
    count = Math.min(2 * hits.length, lines.most)
  }
}

/** Returns what is read of each line for a row with the given fields. */
function partsFor(fields: RowQuery['fields']): LineParts {
  if (fields === undefined) return wholeLines
  // `fields.x` is a field `x` whose name is reserved, or has this name itself.
  const isPlain = fields.every(name => !name.startsWith('fields.'))
  const own = fields.flatMap(name => ownField(name) ?? [])
  return { text: fields.includes('_msg'), fields: isPlain ? own : undefined }
}

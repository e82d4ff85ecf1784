import { createLineRow } from '../../logsql/pipes/by-row.ts'
import { sizeOfRow } from '../../logsql/pipes/stage.ts'
import type { Row } from '../../logsql/row.ts'
import type { LogQuery, QueryResult, RowPage, RowQuery } from '../../store.ts'
import type { Work } from './selection.ts'

// Pages of lines grow, since the first one is often enough.
const lines = { first: 1000, most: 8000 }
// Each of the concurrent queries holds the lines of a page until all of them are rows.
const maxLineChars = 2 * 1024 * 1024
// Pipes may make a row of each line that is much larger.
const maxBytes = 4 * 1024 * 1024

/** @param page searches a page of lines, with a limit of their characters */
export function* searchRows(
  page: (asked: LogQuery, maxChars: number) => Work<QueryResult>,
  { filter, order, start: first, size, ...step }: RowQuery,
): Work<RowPage> {
  const toLineRow = createLineRow(step)
  const rows: Row[] = []
  let bytes = 0
  let start = first
  for (let count = lines.first; ; ) {
    const { hits, isCut } = yield* page({ filter, order, size: count, start, withTotal: false }, maxLineChars)
    for (const { record, cursor } of hits) {
      // Other queries wait meanwhile: a filter may take long on a line.
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
    // Few lines fit into a page if they are long.
    count = Math.min(2 * hits.length, lines.most)
  }
}

import { randomUUID } from 'node:crypto'
import type { IngestLimits } from '../limits.ts'
import type { Notes } from '../line/line-notes.ts'
import type { BatchReading, Problem } from '../raw-batch.ts'
import { filterOfMember, filterValue, parseFilterPath } from './filter-path.ts'
import { type BulkItem, parseBulk } from './parse.ts'

// Error types of rejected lines: those of Elasticsearch for an exceeded shard limit and for a time
// outside the range of an index. The status is 400, which shippers treat as final. After 429 they
// would repeat the line, and block later lines, until the quota is renewed.
const errorTypes = { quota: 'validation_exception', time: 'timestamp_error' } as const
const unreadable = 'document_parsing_exception'

/** Returns the type of error of a rejected line. @param cause set if the store rejected it */
export function errorTypeOf(cause: Problem['cause']): string {
  return cause === undefined ? unreadable : errorTypes[cause]
}

type Name = Pick<BulkItem, 'action' | 'index' | 'id'>

/** Reads a `_bulk` request of Elasticsearch. The response has its items in the same order. */
export function readBulk(
  body: Buffer,
  { index, filterPath }: { readonly index: string; readonly filterPath: string },
  limits: IngestLimits,
): BatchReading {
  const names: Name[] = []
  const filter = parseFilterPath(filterPath)
  const [filterOfErrors, filterOfItems] = ['errors', 'items'].map(name => filterOfMember(filter, name))
  return {
    lines: remember(parseBulk(body, index, limits), names),
    *respond(problems, changes, isRepeat) {
      const toItem = createItemWriter()
      let between = ''
      if (filterOfErrors?.includes === 'all') {
        yield `"errors":${problems.size > 0}${isRepeat ? ',"duplicate":true' : ''}`
        between = ','
      }
      if (filterOfItems === undefined) return
      const isWhole = filterPath === ''
      let begin = `${between}"items":[`
      let end = ''
      for (const [i, name] of names.entries()) {
        const item = toItem(name, problems.get(i), changes.get(i))
        const kept = isWhole ? item : JSON.stringify(filterValue(JSON.parse(item), filterOfItems))
        if (kept === undefined) continue
        yield begin + kept
        begin = ','
        end = ']'
      }
      yield end === '' && isWhole ? `${begin}]` : end
    },
  }
}

/**
 * Remembers action, index and ID of each item for the response, but not the documents, which are
 * most of the batch. Consecutive items with the same action line share an object.
 */
function* remember(items: Iterable<BulkItem>, names: Name[]): Generator<BulkItem> {
  let last: Name | undefined
  for (const item of items) {
    const { action, index, id } = item
    if (last?.action !== action || last.index !== index || last.id !== id) last = { action, index, id }
    names.push(last)
    yield item
  }
}

/** Creates a function that formats items of a response, whose start is built once. */
function createItemWriter(): (name: Name, problem?: Problem, changed?: Notes) => string {
  // Prefix of the generated document IDs, which must be unique.
  const prefix = randomUUID()
  let count = 0
  let head = { action: '', index: '', text: '' }
  return ({ action, index, id }, problem, changed) => {
    if (head.action !== action || head.index !== index)
      head = { action, index, text: `{"${action}":{"_index":${JSON.stringify(index || 'logs')},"_id":` }
    count += 1
    const text = `${head.text}${id === '' ? `"${prefix}-${count}"` : JSON.stringify(id)}`
    if (problem === undefined) {
      const note = changed === undefined ? '' : `,"changed":${JSON.stringify(changed)}`
      return `${text},"_version":1,"result":"created","status":201${note}}}`
    }
    const { reason, cause } = problem
    const error = JSON.stringify({ type: errorTypeOf(cause), reason })
    return `${text},"status":400,"error":${error}}}`
  }
}

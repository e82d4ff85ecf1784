import { badRequest } from '../../../apierrors/status.ts'
import { parseJson } from '../../../json/parse.ts'
import { parseExactly } from '../../../json/parse-exactly.ts'
import { eachChild, skipBlank, skipValue } from '../../../json/scan.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'
import { parseBounded } from '../body/bounded-json.ts'
import { splitLines } from '../body/split-lines.ts'
import type { IngestLimits } from '../limits.ts'
import { type Line, parseDocument } from '../line/document.ts'

export type BulkAction = 'create' | 'index'

/** An item of a bulk request. `id` is the document ID from the client, or ''. */
export type BulkItem = Line & {
  readonly action: BulkAction | 'update' | 'delete'
  readonly index: string
  readonly id: string
}

type BulkItemHead = Pick<BulkItem, 'action' | 'index' | 'id'>

/**
 * Parses the body of a `_bulk` request of Elasticsearch: an action line per item, followed by a
 * document except after `delete`. Logs are append-only: an update is only accepted if it contains
 * the document to create.
 *
 * @param index the index in the path; an item may have its own
 * @throws Status 400 for an invalid action line, which makes all later lines ambiguous
 */
export function* parseBulk(body: Buffer, index: string, limits: IngestLimits): Generator<BulkItem> {
  let number = 0
  let head: BulkItemHead | undefined
  let known: { readonly text: string; readonly action: BulkItemHead } | undefined
  for (const text of splitLines(body)) {
    number++
    if (head !== undefined) {
      yield { ...head, ...readDocument(head.action, text, limits) }
      head = undefined
    } else if (text.trim() !== '') {
      // Action lines without an ID are often identical; repeated ones are not parsed again.
      if (known?.text !== text) known = { text, action: parseAction(text, number, index) }
      const { action } = known
      if (action.action === 'delete') yield { ...action, problem: unsupported('delete') }
      else head = action
    }
  }
  if (head !== undefined) throw badRequest(`line ${number}: the document after the last action is missing`)
}

function readDocument(action: string, text: string, limits: IngestLimits): Line {
  if (action !== 'update') return parseDocument(text, limits)
  const created = createdByUpdate(text, limits)
  return created === undefined ? { problem: unsupported(action) } : parseDocument(created, limits)
}

/**
 * Returns the document that an update creates if none has its ID: `upsert`, or `doc` with
 * `doc_as_upsert`. Returns invalid JSON as it is.
 */
function createdByUpdate(documentText: string, limits: IngestLimits): string | undefined {
  let text: string
  try {
    text = parseBounded(documentText, limits).text
  } catch {
    // parseDocument reports the error.
    return documentText
  }
  const members = new Map<string | number, string>()
  eachChild(text, skipBlank(text, 0), ({ step, valueStart }) => {
    const end = skipValue(text, valueStart)
    members.set(step, text.slice(valueStart, end))
    return end
  })
  return members.get('upsert') ?? (members.get('doc_as_upsert') === 'true' ? members.get('doc') : undefined)
}

function unsupported(action: string): string {
  return `${action} is not supported: log lines cannot be changed; use create or index`
}

function parseAction(text: string, number: number, index: string): BulkItemHead {
  const malformed = (is: string) =>
    badRequest(
      `line ${number}: ${is}; expected an action such as {"create":{}}, and the document on the next line`,
    )
  let parsed: unknown
  try {
    parseJson(text)
    parsed = parseExactly(text)
  } catch {
    throw malformed('not valid JSON')
  }
  // As Elasticsearch 8, ignores other members: winston-elasticsearch writes the number of attempts.
  const actions = isRecord(parsed) ? Object.entries(parsed).filter(([name]) => isAction(name)) : []
  const [[action, meta] = ['', undefined], ...rest] = actions
  if (rest.length > 0 || !isAction(action) || !isRecord(meta)) throw malformed('not an action')
  const { _index: own, _id: id } = meta
  return {
    action,
    index: typeof own === 'string' && own !== '' ? own : index,
    // Elasticsearch accepts numbers.
    id: ['string', 'number', 'bigint'].includes(typeof id) ? String(id) : '',
  }
}

function isAction(action: string): action is BulkItem['action'] {
  return action === 'create' || action === 'index' || action === 'update' || action === 'delete'
}

import { createHash } from 'node:crypto'
import { insufficientStorage, tooManyRequests, unavailable } from '../../apierrors/status.ts'
import { isRecord } from '../../kubeclient/object.ts'
import type { AppendResult, LogBatch } from '../store.ts'
import { reasonOf, refusedCredentials, type SearchClient } from './client.ts'
import { toDocument } from './document.ts'
import { indexOf } from './indices.ts'

// Far below http.max_content_length of 100 MB, and large enough that the engine has something to do at once.
const chunkBytes = 8 * 1024 * 1024
const timeoutMs = 30_000
// What an engine calls a document that it can never take, as the type of its error.
const ofDocument = /^(mapper_parsing|document_parsing|strict_dynamic_mapping|illegal_argument)_exception\b/

/**
 * Stores a batch. Each document's id is made from its record's own, or from the whole batch and its place in it, so that a
 * batch that is sent again finds its documents there, whatever became of the first answer.
 *
 * @throws Status 429, 503, 507; then parts may be stored, and sending the batch again completes it
 */
export async function appendBatch(
  client: SearchClient,
  prefix: string,
  { records, id, ids }: LogBatch,
): Promise<AppendResult> {
  const documents = records.map(record => JSON.stringify(toDocument(record)))
  const hash = createHash('sha256')
  if (id === undefined) for (const document of documents) hash.update(document)
  else hash.update(id)
  const batch = hash.digest('base64url').slice(0, 22)
  const lines = documents.map((document, i) => {
    const index = indexOf(prefix, Number((records[i]?.timeNs ?? 0n) / 1_000_000n))
    const own = ids?.[i]
    const name = own === undefined ? `${batch}-${i}` : createHash('sha256').update(own).digest('base64url')
    return `{"create":{"_index":${JSON.stringify(index)},"_id":"${name}"}}\n${document}\n`
  })
  const rejected: { index: number; reason: string }[] = []
  let known = 0
  for (const { from, text } of toChunks(lines)) {
    const answer = await client.call({ method: 'POST', path: '/_bulk', lines: text, timeoutMs })
    const items = isRecord(answer) && Array.isArray(answer.items) ? answer.items : []
    for (const [i, item] of items.entries()) {
      const result = readItem(item)
      if (result === 'known') known++
      else if (result !== undefined) rejected.push({ index: from + i, reason: result })
    }
  }
  return { duplicate: known > 0 && known + rejected.length === records.length, rejected }
}

function* toChunks(lines: readonly string[]): Generator<{ from: number; text: string }> {
  let from = 0
  let chunk: string[] = []
  let length = 0
  for (const [i, line] of lines.entries()) {
    chunk.push(line)
    length += line.length
    if (length < chunkBytes && i < lines.length - 1) continue
    yield { from, text: chunk.join('') }
    from = i + 1
    chunk = []
    length = 0
  }
}

/** @returns undefined when it is stored; why it never will be */
function readItem(item: unknown): string | undefined {
  const result = isRecord(item) && isRecord(item.create) ? item.create : {}
  const status = Number(result.status ?? 500)
  if (status < 300) return undefined
  if (status === 409) return 'known'
  const said = reasonOf({ error: result.error })
  if (/flood-stage|cluster_block/.test(said)) {
    throw insufficientStorage(`the log store takes no more lines: ${said}`)
  }
  // A request that may be made can be of documents that may not: then it is answered with 200. The lines are not at fault.
  if (status === 401 || status === 403) throw refusedCredentials(new Error(said))
  if (status === 429) throw tooManyRequests('the log store is overloaded', 1)
  // All else is of the engine: no shard may be added, an index is closed. A client that learns that a line is bad would drop it.
  if (!ofDocument.test(said)) throw unavailable(`the log store answered ${status}: ${said}`, undefined, 5)
  return said
}

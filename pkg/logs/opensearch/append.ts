import { createHash } from 'node:crypto'
import { insufficientStorage, tooManyRequests, unavailable } from '../../apierrors/status.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import type { AppendResult, LogBatch } from '../store.ts'
import { reasonOf, rejectedCredentials, type SearchClient } from './client.ts'
import { toDocument } from './document.ts'
import { indexOf } from './indices.ts'

// Size of a request, far below the default http.max_content_length of 100 MB.
const chunkBytes = 8 * 1024 * 1024
const timeoutMs = 30_000
// Error types of documents that the search engine can never store.
const ofDocument = /^(mapper_parsing|document_parsing|strict_dynamic_mapping|illegal_argument)_exception\b/

/**
 * Stores a batch. Document IDs are derived from record IDs, or from the batch and the index in it,
 * so that a retry finds the documents that are already stored.
 *
 * @throws Status 429, 503, 507; some records may then be stored, and a retry stores the others
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
    const response = await client.call({ method: 'POST', path: '/_bulk', lines: text, timeoutMs })
    const items = isRecord(response) && Array.isArray(response.items) ? response.items : []
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

/**
 * Reads the result of a document: undefined if it is stored, `known` if it was stored before,
 * otherwise the reason why it can never be stored.
 *
 * @throws Status if a retry may succeed
 */
function readItem(item: unknown): string | undefined {
  const result = isRecord(item) && isRecord(item.create) ? item.create : {}
  const status = Number(result.status ?? 500)
  if (status < 300) return undefined
  if (status === 409) return 'known'
  const reason = reasonOf({ error: result.error })
  if (/flood-stage|cluster_block/.test(reason)) {
    throw insufficientStorage(`the log store rejects new lines: ${reason}`)
  }
  // The status of a request can be 200 although documents in it were unauthorized. The lines
  // themselves are valid.
  if (status === 401 || status === 403) throw rejectedCredentials(new Error(reason))
  if (status === 429) throw tooManyRequests('the log store is overloaded', 1)
  // Other errors concern the search engine (shard limit, closed index). If they were reported as
  // invalid lines, the client would drop the lines.
  if (!ofDocument.test(reason))
    throw unavailable(`the log store responded with ${status}: ${reason}`, undefined, 5)
  return reason
}

import { randomUUID } from 'node:crypto'
import { type BulkItem, parseBulk } from './bulk.ts'
import type { IngestLimits } from './limits.ts'
import type { BatchReading } from './raw-batch.ts'

type Name = Pick<BulkItem, 'action' | 'index' | 'id'>

/** Elasticsearch's `_bulk`: the answer has an item for each of the batch, in their order. */
export function readBulk(body: Buffer, index: string, limits: IngestLimits): BatchReading {
  const names: Name[] = []
  return {
    lines: remember(parseBulk(body, index, limits), names),
    *answer(problems) {
      yield `"errors":${problems.size > 0},"items":[`
      for (const [i, name] of names.entries())
        yield `${i === 0 ? '' : ','}${toItemAnswer(name, problems.get(i))}`
      yield ']}\n'
    },
  }
}

/** Not the whole items: their texts are most of the batch. */
function* remember(items: Iterable<BulkItem>, names: Name[]): Generator<BulkItem> {
  for (const item of items) {
    const { action, index, id } = item
    names.push({ action, index, id })
    yield item
  }
}

/** Put together by hand: of a large batch this is much of the work. */
function toItemAnswer({ action, index, id }: Name, problem: string | undefined): string {
  const named = `"_index":${JSON.stringify(index || 'logs')},"_id":${JSON.stringify(id || randomUUID())}`
  if (problem === undefined) return `{"${action}":{${named},"_version":1,"result":"created","status":201}}`
  const error = { type: 'document_parsing_exception', reason: problem }
  return `{"${action}":{${named},"status":400,"error":${JSON.stringify(error)}}}`
}

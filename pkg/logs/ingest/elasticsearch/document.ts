import type { IngestLimits } from '../limits.ts'
import { parseDocument } from '../line/document.ts'
import type { BatchReading } from '../raw-batch.ts'

/** Reads one document, as `index` of Elasticsearch clients sends it. */
export function readDocument(
  body: Buffer,
  { index, id }: { readonly index: string; readonly id: string },
  limits: IngestLimits,
): BatchReading {
  return {
    lines: [parseDocument(body.toString('utf8').replace(/^\ufeff/, ''), limits)],
    *respond(_, changes, isRepeat) {
      const [changed] = changes.values()
      yield JSON.stringify({
        ...{ _index: index, _id: id, _version: 1, result: 'created' },
        _shards: { total: 1, successful: 1, failed: 0 },
        ...{ _seq_no: 0, _primary_term: 1 },
        ...(changed === undefined ? {} : { changed }),
        ...(isRepeat ? { duplicate: true } : {}),
      })
    },
    rejection: problems => problems.get(0)?.reason,
  }
}

import type { LogRecord } from '../record.ts'
import { toRecord, toTimeNs } from './lines.ts'
import type { Segment } from './segment.ts'
import { locate } from './stream-documents.ts'

/** A line of a segment. */
export type Line = { readonly segment: Segment; readonly document: number }

/**
 * Reads lines, of each segment together and in the order in which they lie there, so that each block is unpacked once. Yields
 * now and then.
 */
export function* readRecords(lines: readonly Line[]): Generator<void, ReadonlyMap<Line, LogRecord>> {
  const records = new Map<Line, LogRecord>()
  for (const [segment, own] of Map.groupBy(lines, ({ segment }) => segment)) {
    const byDocument = new Map(own.map(line => [line.document, line]))
    const wanted = Uint32Array.from(byDocument.keys()).sort()
    const { documents, places, streams } = segment.useStreams(column =>
      locate(column, segment.streamStarts, wanted),
    )
    for (const [i, document] of documents.entries()) {
      if (i % 100 === 99) yield
      const line = byDocument.get(document)
      const record = recordAt(segment, document, streams[i] ?? 0, places[i] ?? 0)
      if (line !== undefined) records.set(line, record)
    }
    yield
  }
  return records
}

function recordAt(segment: Segment, document: number, stream: number, place: number): LogRecord {
  const source = segment.footer.streams[stream]
  if (source === undefined) throw new RangeError(`segment ${segment.id}: there is no stream ${stream}`)
  const timeNs = toTimeNs(segment.footer.day, segment.timeOf(document))
  return toRecord(source, timeNs, segment.textAt(place).toString())
}

import { badRequest } from '../../../apierrors/status.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'
import { parseBody } from '../body/bounded-json.ts'
import type { IngestLimits } from '../limits.ts'
import { parseTimestamp } from '../line/timestamp.ts'
import type { LokiEntry, LokiStream } from './entry.ts'
import { parseLabels } from './labels.ts'

/**
 * Reads a push request of Loki in JSON: `{"streams": [{"stream": {…}, "values": [["<nanoseconds>",
 * "<line>", {…}]]}]}`.
 *
 * @throws Status 400 if it is not a push request, 413 if it has too many values
 */
export function* readPushJson(body: Buffer, limits: IngestLimits): Generator<LokiStream> {
  const parsed = parseBody(body, limits)
  const streams = isRecord(parsed) ? parsed.streams : undefined
  if (!Array.isArray(streams)) throw badRequest('invalid streams: expected a list of objects')
  for (const stream of streams) yield toStream(stream)
}

/**
 * Converts a stream, also of the format before Loki 1.0: `{"labels": "{…}", "entries": [{"ts": …,
 * "line": …}]}`. An invalid stream, or an invalid list of entries, is stored as a line.
 */
function toStream(value: unknown): LokiStream {
  if (!isRecord(value)) return { labels: [], entries: [toLine(value)] }
  const { stream = value.labels, values = value.entries } = value
  const isEmpty = Object.keys(value).every(name => name === 'stream' || name === 'values')
  const entries = Array.isArray(values) ? values.map(toEntry) : values == null ? [] : [toLine(values)]
  if (values == null && !isEmpty) return { labels: toLabels(stream), entries: [toLine(value)] }
  return { labels: toLabels(stream), entries }
}

function toLabels(stream: unknown): LokiStream['labels'] {
  if (isRecord(stream)) return Object.entries(stream)
  if (stream == null) return []
  return (typeof stream === 'string' ? parseLabels(stream) : undefined) ?? [['labels', stream]]
}

function toLine(line: unknown): LokiEntry {
  return { timeNs: undefined, timestamp: undefined, line, metadata: [] }
}

function toEntry(value: unknown): LokiEntry {
  if (isRecord(value) && typeof value.line === 'string') {
    const { ts, line, ...others } = value
    return { timeNs: readTime(ts), timestamp: ts, line, metadata: Object.entries(others) }
  }
  const [time, line, metadata, ...others]: readonly unknown[] = Array.isArray(value) ? value : []
  const unknown = isRecord(metadata) || metadata == null ? others : [metadata, ...others]
  return {
    timeNs: readTime(time),
    timestamp: time,
    line: line ?? value,
    metadata: [
      ...(isRecord(metadata) ? Object.entries(metadata) : []),
      ...unknown.map(more => ['metadata', more] as const),
    ],
  }
}

/** Reads a time. A number is always nanoseconds, even if it is small. */
function readTime(time: unknown): bigint | undefined {
  if (typeof time !== 'string' && typeof time !== 'number' && typeof time !== 'bigint') return undefined
  const text = String(time)
  return /^\d{1,19}$/.test(text) ? BigInt(text) : parseTimestamp(text)
}

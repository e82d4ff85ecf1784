import { Status } from '../../apierrors/status.ts'
import type { Line } from './document.ts'
import { readBulk } from './elasticsearch/batch.ts'
import { readJsonLines } from './jsonlines/batch.ts'
import { readLoki } from './loki/batch.ts'
import { readOtlp } from './otlp/batch.ts'
import type { BatchReading, RawBatch } from './raw-batch.ts'

export function readBatch(batch: RawBatch): BatchReading {
  const reading = readingOf(batch)
  return { ...reading, lines: upTo(batch.limits.batchLines, reading.lines) }
}

function readingOf(batch: RawBatch): BatchReading {
  switch (batch.protocol) {
    case 'bulk':
      return readBulk(batch.body, batch, batch.limits)
    case 'jsonlines':
      return readJsonLines(batch.body, batch.limits)
    case 'loki':
      return readLoki(batch.body, batch.encoding, batch.limits)
    case 'otlp':
      return readOtlp(batch.body, batch.encoding, batch.limits)
  }
}

/** Lines beyond the limit are not read. */
function* upTo(limit: number, lines: Iterable<Line>): Generator<Line> {
  let count = 0
  for (const line of lines) {
    count += 1
    if (count > limit)
      throw new Status(413, 'RequestEntityTooLarge', `the batch has too many lines, the limit is ${limit}`)
    yield line
  }
}

import { limitParts } from './body/limit-parts.ts'
import { readBulk } from './elasticsearch/batch.ts'
import { readDocument } from './elasticsearch/document.ts'
import { readJsonLines } from './jsonlines/batch.ts'
import { noteInvalidUnicode } from './line/invalid-unicode.ts'
import { readLoki } from './loki/batch.ts'
import { readOtlp } from './otlp/batch.ts'
import type { BatchReading, RawBatch } from './raw-batch.ts'

export function readBatch(batch: RawBatch): BatchReading {
  const reading = readingOf(batch)
  const encoding = 'encoding' in batch ? batch.encoding : 'json'
  const lines = noteInvalidUnicode(reading.lines, batch.body, encoding)
  return { ...reading, lines: limitParts(batch.limits.batchLines, 'lines', lines) }
}

function readingOf(batch: RawBatch): BatchReading {
  switch (batch.protocol) {
    case 'bulk':
      return readBulk(batch.body, batch, batch.limits)
    case 'document':
      return readDocument(batch.body, batch, batch.limits)
    case 'jsonlines':
      return readJsonLines(batch.body, batch.limits)
    case 'loki':
      return readLoki(batch.body, batch.encoding, batch.limits)
    case 'otlp':
      return readOtlp(batch.body, batch.encoding, batch.limits)
  }
}

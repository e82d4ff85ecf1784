import type { LogRecord } from '../record.ts'
import type { AppendResult } from '../store.ts'
import type { Ingested, RawBatch } from './raw-batch.ts'
import { readBatch } from './read-batch.ts'

export type BatchRecords = {
  readonly records: readonly LogRecord[]
  /** What the sender gets once the store has taken all of them but those that it rejected. */
  readonly respond: (rejected: AppendResult['rejected']) => Ingested
}

/**
 * Reads a batch as a whole.
 *
 * @throws Status 400 when it cannot be read, 413 when it has too many lines
 */
export function readRecords(batch: RawBatch): BatchRecords {
  const reading = readBatch(batch)
  const problems = new Map<number, string>()
  const places: number[] = []
  const records: LogRecord[] = []
  let count = 0
  for (const { record, problem } of reading.lines) {
    if (record === undefined) problems.set(count, problem)
    else {
      places.push(count)
      records.push(record)
    }
    count += 1
  }
  return {
    records,
    respond: rejected => {
      for (const { index, reason } of rejected) problems.set(places[index] ?? index, reason)
      const counts = { taken: count - problems.size, refused: problems.size }
      const refusal = reading.refusal?.(problems)
      if (refusal !== undefined) return { ...counts, answer: Buffer.alloc(0), refusal }
      return { ...counts, answer: joinPieces(reading.answer(problems)) }
    },
  }
}

/** All pieces of an answer, one after the other. */
export function joinPieces(pieces: Iterable<string | Uint8Array>): Buffer {
  const parts = [...pieces]
  const texts = parts.filter(part => typeof part === 'string')
  if (texts.length === parts.length) return Buffer.from(texts.join(''))
  return Buffer.concat(parts.map(part => Buffer.from(part)))
}

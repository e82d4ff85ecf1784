import type { LogRecord } from '../record.ts'
import type { AppendResult } from '../store.ts'
import type { Line } from './line/document.ts'
import type { Note, Notes } from './line/line-notes.ts'
import type { IngestResult, LineChanges, Problem, Problems, RawBatch } from './raw-batch.ts'
import { readBatch } from './read-batch.ts'

export type BatchRecords = {
  readonly records: readonly LogRecord[]
  /** Returns the response, given the result of the store. */
  readonly respond: (result: AppendResult) => IngestResult
}

/** Parses a whole batch. @throws Status 400 if it is invalid, 413 if it has too many lines */
export function readRecords(batch: RawBatch): BatchRecords {
  const reading = readBatch(batch)
  const outcome = createOutcome()
  for (const line of reading.lines) outcome.add(line)
  return {
    records: outcome.records,
    respond: ({ rejected, duplicate }) => {
      const { counts, problems, changes } = outcome.close(rejected)
      const rejection = reading.rejection?.(problems)
      if (rejection !== undefined) return { ...counts, response: Buffer.alloc(0), rejection }
      return { ...counts, response: joinPieces(reading.respond(problems, changes, duplicate)) }
    },
  }
}

export type Outcome = {
  readonly add: (line: Line) => void
  readonly records: readonly LogRecord[]
  /** Adds the result of the store. @param rejected records by index in `records` */
  readonly close: (rejected: AppendResult['rejected']) => {
    readonly counts: Pick<IngestResult, 'stored' | 'rejected' | 'changed' | 'causes'>
    readonly problems: Problems
    readonly changes: LineChanges
  }
}

/** Collects the results of the lines of a batch. */
export function createOutcome(): Outcome {
  const problems = new Map<number, Problem>()
  const changes = new Map<number, Notes>()
  const lineIndexes: number[] = []
  const records: LogRecord[] = []
  let count = 0
  return {
    records,
    add: ({ record, problem, notes }) => {
      if (record === undefined) problems.set(count, { reason: problem })
      else {
        lineIndexes.push(count)
        records.push(record)
        if (notes !== undefined) changes.set(count, notes)
      }
      count += 1
    },
    close: rejected => {
      const causes: { time?: number; quota?: number } = {}
      for (const { index, reason, cause } of rejected) {
        if (cause !== undefined) causes[cause] = (causes[cause] ?? 0) + 1
        const lineIndex = lineIndexes[index] ?? index
        problems.set(lineIndex, cause === undefined ? { reason } : { reason, cause })
        changes.delete(lineIndex)
      }
      const changed: Partial<Record<Note, number>> = {}
      for (const note of [...changes.values()].flat()) changed[note] = (changed[note] ?? 0) + 1
      const counts = {
        ...{ stored: count - problems.size, rejected: problems.size, changed },
        ...(Object.keys(causes).length === 0 ? {} : { causes }),
      }
      return { counts, problems, changes }
    },
  }
}

export function joinPieces(pieces: Iterable<string | Uint8Array>): Buffer {
  const parts = [...pieces]
  const texts = parts.filter(part => typeof part === 'string')
  if (texts.length === parts.length) return Buffer.from(texts.join(''))
  return Buffer.concat(parts.map(part => Buffer.from(part)))
}

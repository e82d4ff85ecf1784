import { collect } from '../../request/respond.ts'
import type { Turns } from '../../request/turns.ts'
import type { LogRecord } from '../record.ts'
import type { LogStore } from '../store.ts'
import { readBatch } from './read-batch.ts'
import { joinPieces } from './read-records.ts'

/** For a store that takes records: reads batches in the thread that asks, in turns with all else that it does. */
export function createIngestRecords(append: LogStore['append'], turns: Turns): LogStore['ingest'] {
  return async batch => {
    await turns.next()
    const reading = readBatch(batch)
    const lines = await collect(reading.lines, turns)
    const problems = new Map<number, string>()
    const places: number[] = []
    const records: LogRecord[] = []
    for (const [i, { record, problem }] of lines.entries()) {
      if (record === undefined) problems.set(i, problem)
      else {
        places.push(i)
        records.push(record)
      }
    }
    if (records.length > 0) {
      const { rejected } = await append({ records })
      for (const { index, reason } of rejected) problems.set(places[index] ?? index, reason)
    }
    await turns.next()
    const counts = { taken: lines.length - problems.size, refused: problems.size }
    const refusal = reading.refusal?.(problems)
    if (refusal !== undefined) return { ...counts, answer: Buffer.alloc(0), refusal }
    return { ...counts, answer: joinPieces(await collect(reading.answer(problems), turns)) }
  }
}

import { collect } from '../../httpserver/response/respond.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import type { LogStore } from '../store.ts'
import { batchName } from './raw-batch.ts'
import { readBatch } from './read-batch.ts'
import { createOutcome, joinPieces } from './read-records.ts'

/** Creates `ingest` for a store that accepts records; parses batches in time slices. */
export function createIngestRecords(append: LogStore['append'], timeSlices: TimeSlices): LogStore['ingest'] {
  return async batch => {
    await timeSlices.next()
    const reading = readBatch(batch)
    const outcome = createOutcome()
    for (const line of await collect(reading.lines, timeSlices)) outcome.add(line)
    const { records } = outcome
    const none = { rejected: [], duplicate: false }
    const { rejected, duplicate } =
      records.length === 0 ? none : await append({ records, id: batchName(batch) })
    await timeSlices.next()
    const { counts, problems, changes } = outcome.close(rejected)
    const rejection = reading.rejection?.(problems)
    if (rejection !== undefined) return { ...counts, response: Buffer.alloc(0), rejection }
    return {
      ...counts,
      response: joinPieces(await collect(reading.respond(problems, changes, duplicate), timeSlices)),
    }
  }
}

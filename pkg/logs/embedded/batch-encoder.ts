import { createAnswerWriter } from '../ingest/answer-writer.ts'
import type { Ingested, RawBatch } from '../ingest/raw-batch.ts'
import { readBatch } from '../ingest/read-batch.ts'
import { createFrameEncoder, type UnnumberedFrame } from './frame.ts'
import { refusalOf } from './storable.ts'

/** What a batch comes to once its frame is stored; without a frame there is nothing to store. */
export type EncodedBatch = Ingested & { readonly frame?: UnnumberedFrame }

/**
 * Reads a batch and makes a frame of it.
 *
 * @param firstDay the first that is kept, in days since 1970
 * @throws Status 400, 413
 */
export type BatchEncoder = (batch: RawBatch, firstDay: number) => EncodedBatch

// About half a millisecond.
const giveWayLines = 32

/** @param giveWay called every half a millisecond; does not return as long as others go first */
export function createBatchEncoder(giveWay: () => void): BatchEncoder {
  const encoder = createFrameEncoder()
  const writeAnswer = createAnswerWriter()

  return (batch, firstDay) => {
    const reading = readBatch(batch)
    const problems = new Map<number, string>()
    let count = 0
    encoder.begin()
    for (const line of reading.lines) {
      const problem = line.problem ?? refusalOf(line.record.timeNs, firstDay)
      if (problem !== undefined) problems.set(count, problem)
      else if (line.record !== undefined) encoder.add(line.record)
      count += 1
      if (count % giveWayLines === 0) giveWay()
    }
    const taken = count - problems.size
    const refusal = reading.refusal?.(problems)
    const result = {
      ...{ taken, refused: problems.size },
      answer: refusal === undefined ? writeAnswer(reading.answer(problems)) : Buffer.alloc(0),
      ...(refusal === undefined ? {} : { refusal }),
    }
    return taken === 0 ? result : { ...result, frame: encoder.finish() }
  }
}

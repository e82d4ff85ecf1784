import type { RawBatch } from '../ingest/raw-batch.ts'
import type { EncodedBatch } from './batch-encoder.ts'
import type { EncoderQuestion } from './encoder-thread.ts'
import { inOwnMemory, toBuffer } from './own-memory.ts'
import type { Thread } from './thread.ts'

/** Encodes a batch in the thread that does nothing else. The memory of its body is given away. @throws Status 400, 413, 503 */
export async function encodeIn(thread: Thread, batch: RawBatch, firstDay: number): Promise<EncodedBatch> {
  const body = inOwnMemory(batch.body)
  const question = { batch: { ...batch, body: toBuffer(body) }, firstDay } satisfies EncoderQuestion
  const { frame, ...encoded } = (await thread.ask(question, [body.buffer]).answer) as EncodedBatch
  return frame === undefined ? encoded : { ...encoded, frame: { ...frame, bytes: toBuffer(frame.bytes) } }
}

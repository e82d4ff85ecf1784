import type { RawBatch } from '../ingest/raw-batch.ts'
import { toBuffer } from '../own-memory.ts'
import type { EncodedBatch } from './batch-encoder.ts'
import type { EncoderQuestion } from './encoder-thread.ts'
import type { Thread } from './thread.ts'

/**
 * Encodes a batch in the thread that does nothing else. Where its body is in shared memory, that must not change until this resolves.
 *
 * @throws Status 400, 413, 503
 */
export async function encodeIn(thread: Thread, batch: RawBatch, firstDay: number): Promise<EncodedBatch> {
  const { answer } = thread.ask({ batch, firstDay } satisfies EncoderQuestion)
  const { frame, ...encoded } = (await answer) as EncodedBatch
  return frame === undefined ? encoded : { ...encoded, frame: { ...frame, bytes: toBuffer(frame.bytes) } }
}

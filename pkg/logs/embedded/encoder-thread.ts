import { parentPort, workerData } from 'node:worker_threads'
import type { RawBatch } from '../ingest/raw-batch.ts'
import { inOwnMemory, toBuffer } from '../own-memory.ts'
import { createBatchEncoder } from './batch-encoder.ts'
import { createGarbage } from './garbage.ts'
import { createGiveWay } from './precedence.ts'
import { toAnswer } from './thread.ts'
import { standBack } from './thread-priority.ts'

/** `precedence`: the memory of who goes first. */
export type EncoderSettings = { readonly precedence: SharedArrayBuffer }

/** Reads batches and makes frames of them, away from the thread that answers requests. */
export type EncoderQuestion = { readonly batch: RawBatch; readonly firstDay: number }

const mostGarbageBytes = 4 * 1024 * 1024

// Before segments that are made: a sender waits. Behind questions.
standBack(4)
const settings: EncoderSettings = workerData
const encode = createBatchEncoder(createGiveWay(settings.precedence))
const garbage = createGarbage()

parentPort?.on('message', ({ id, batch, firstDay }: EncoderQuestion & { readonly id: number }) => {
  try {
    const { frame, answer, ...counts } = encode({ ...batch, body: toBuffer(batch.body) }, firstDay)
    const value = { ...counts, answer: inOwnMemory(answer) }
    if (frame === undefined) parentPort?.postMessage({ id, value })
    else {
      const bytes = inOwnMemory(frame.bytes)
      const given = [value.answer.buffer, bytes.buffer]
      parentPort?.postMessage({ id, value: { ...value, frame: { ...frame, bytes } } }, given)
    }
  } catch (error) {
    parentPort?.postMessage(toAnswer(id, error))
  }
  garbage.collectBeyond(mostGarbageBytes)
})

import type { LogRecord } from '../record.ts'
import { createFrameEncoder, type Frame, numberFrame } from './frame.ts'

const encoder = createFrameEncoder()

export function frameOf(records: readonly LogRecord[], firstSequence: number, id?: string): Frame {
  encoder.begin()
  for (const record of records) encoder.add(record)
  return numberFrame(encoder.finish(id), firstSequence)
}

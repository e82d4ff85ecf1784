import { closeSync, openSync, readSync } from 'node:fs'
import { type Frame, readFrames } from './frame.ts'

/** Whole frames of a write-ahead log: the bytes from `from` up to `to` of the file. */
export type LogRange = { readonly file: string; readonly from: number; readonly to: number }

/**
 * @param take hands out the memory that the frames are read into, which are views of it
 * @throws Error when the file does not have them whole
 */
export function readLogRange(
  { file, from, to }: LogRange,
  take: (size: number) => Buffer = Buffer.allocUnsafeSlow,
): readonly Frame[] {
  const bytes = take(to - from)
  const descriptor = openSync(file, 'r')
  try {
    let at = 0
    for (let read = 1; at < bytes.length && read > 0; at += read) {
      read = readSync(descriptor, bytes, at, bytes.length - at, from + at)
    }
  } finally {
    closeSync(descriptor)
  }
  const frames = [...readFrames(bytes)]
  const whole = frames.reduce((sum, frame) => sum + frame.bytes.length, 0)
  if (whole !== bytes.length) throw new Error(`${file}: what was written from ${from} to ${to} is not whole`)
  return frames
}

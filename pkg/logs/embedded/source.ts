import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { release } from '../own-memory.ts'
import type { Piece } from './segment-format.ts'

/** Bytes of a segment: a file, or memory. */
export type Source = {
  readonly size: number
  /** In memory that has nothing else in it. */
  readonly read: (piece: Piece) => Buffer
  /** The same for as long as the work goes on, and no longer: its memory is let go of. */
  readonly use: <T>(piece: Piece, work: (bytes: Buffer) => T) => T
  readonly close: () => void
}

/** A segment in a file. */
export type SourceName = { readonly id: string; readonly file: string }

export function openSource({ file }: SourceName): Source {
  const descriptor = openSync(file, 'r')

  function read({ offset, length }: Piece): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length)
    const size = readSync(descriptor, bytes, 0, length, offset)
    if (size !== length) throw new Error(`${file}: ends at ${offset + size}`)
    return bytes
  }

  return {
    size: fstatSync(descriptor).size,
    read,
    use: (piece, work) => {
      const bytes = read(piece)
      const result = work(bytes)
      release(bytes)
      return result
    },
    close: () => closeSync(descriptor),
  }
}

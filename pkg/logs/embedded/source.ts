import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { release } from '../own-memory.ts'
import type { Piece } from './segment-format.ts'

/** Bytes of a segment: a file, or memory. */
export type Source = {
  readonly size: number
  /** In memory that has nothing else in it. */
  readonly read: (piece: Piece) => Buffer
  /** As many bytes as there is room for. */
  readonly readInto: (offset: number, into: Buffer) => void
  /** The same for as long as the work goes on, and no longer: its memory is let go of. */
  readonly use: <T>(piece: Piece, work: (bytes: Buffer) => T) => T
  readonly close: () => void
}

/** A segment in a file. */
export type SourceName = { readonly id: string; readonly file: string }

export function openSource({ file }: SourceName): Source {
  const descriptor = openSync(file, 'r')

  function readInto(offset: number, into: Buffer): void {
    const size = readSync(descriptor, into, 0, into.length, offset)
    if (size !== into.length) throw new Error(`${file}: ends at ${offset + size}`)
  }

  function read({ offset, length }: Piece): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length)
    readInto(offset, bytes)
    return bytes
  }

  return {
    size: fstatSync(descriptor).size,
    read,
    readInto,
    use: (piece, work) => {
      const bytes = read(piece)
      const result = work(bytes)
      release(bytes)
      return result
    },
    close: () => closeSync(descriptor),
  }
}

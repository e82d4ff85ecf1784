import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Source } from './segment.ts'

/** A segment in a file. */
export type SourceName = { readonly id: string; readonly file: string }

export function openSource({ file }: SourceName): Source {
  const descriptor = openSync(file, 'r')
  return {
    size: fstatSync(descriptor).size,
    read: ({ offset, length }) => {
      const bytes = Buffer.allocUnsafe(length)
      const size = readSync(descriptor, bytes, 0, length, offset)
      if (size !== length) throw new Error(`${file}: ends at ${offset + size}`)
      return bytes
    },
    close: () => closeSync(descriptor),
  }
}

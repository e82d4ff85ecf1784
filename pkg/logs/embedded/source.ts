import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Source } from './segment.ts'

/** Where a segment is: a file, or memory that threads share. */
export type SourceName =
  | { readonly id: string; readonly file: string }
  | { readonly id: string; readonly bytes: Uint8Array }

export function openSource(name: SourceName): Source {
  if ('bytes' in name) {
    const { buffer, byteOffset, byteLength } = name.bytes
    const bytes = Buffer.from(buffer, byteOffset, byteLength)
    return {
      size: byteLength,
      read: ({ offset, length }) => bytes.subarray(offset, offset + length),
      close: () => undefined,
    }
  }
  const descriptor = openSync(name.file, 'r')
  return {
    size: fstatSync(descriptor).size,
    read: ({ offset, length }) => {
      const bytes = Buffer.allocUnsafe(length)
      const size = readSync(descriptor, bytes, 0, length, offset)
      if (size !== length) throw new Error(`${name.file}: ends at ${offset + size}`)
      return bytes
    },
    close: () => closeSync(descriptor),
  }
}

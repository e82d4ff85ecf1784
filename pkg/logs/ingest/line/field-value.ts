import type { FieldScalar, FieldValue } from '../../field-values.ts'
import { shorten } from './line-notes.ts'

/** Truncates a value to a number of bytes. Calls `note` if this removes something. */
export function shortenValue(value: FieldValue, bytes: number, note: () => void): FieldValue {
  if (typeof value === 'string') return shorten(value, bytes, note)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (typeof value !== 'object') return value
  let left = bytes
  const kept: FieldScalar[] = []
  for (const one of value) {
    left -= bytesOf(one) + 1
    if (left < 0) {
      note()
      break
    }
    kept.push(typeof one === 'number' && !Number.isFinite(one) ? String(one) : one)
  }
  return kept
}

/** Returns the approximate size of a value: UTF-8 bytes of strings, 8 bytes for other scalars. */
export function bytesOf(value: FieldValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  // Plus one byte per list item, because empty strings take space, too.
  return typeof value === 'object' ? value.reduce((sum: number, one) => sum + bytesOf(one) + 1, 0) : 8
}

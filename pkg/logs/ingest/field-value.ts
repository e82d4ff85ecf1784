import type { FieldScalar, FieldValue } from '../fields.ts'
import { shorten } from './notes.ts'

/** As much of a value as takes so many bytes at most; `note` is called when that is not all. */
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

/** What a value takes, about: UTF-8 bytes of texts, 8 of all else. */
export function bytesOf(value: FieldValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  // A comma for each of a list: empty texts take something too.
  return typeof value === 'object' ? value.reduce((sum: number, one) => sum + bytesOf(one) + 1, 0) : 8
}

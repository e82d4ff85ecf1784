import { badRequest } from '../../../apierrors/status.ts'
import type { Row } from '../row.ts'
import type { Steps } from './steps.ts'

/** A step of a pipeline: receives rows one by one, and emits results. */
export type Stage = {
  /** @returns whether it accepts more rows; false if further rows cannot change the result */
  readonly push: (row: Row) => boolean
  /** No more rows come. */
  readonly end: () => Steps
}

/** The end of a stage that holds nothing back. */
export function* ended(): Steps {}

/** The memory that a query uses until its end. */
export type Budget = { readonly take: (bytes: number) => void }

// An entry of a map, or of a row.
const overhead = 64

/** @throws Status 400 if the limit is exceeded */
export function createBudget(maxBytes: number): Budget {
  let taken = 0
  return {
    take: bytes => {
      taken += bytes
      if (taken > maxBytes) {
        throw badRequest(
          `query: it needs more than ${maxBytes / 1024 / 1024} MiB of memory: sort with a limit, group by fewer values, or use a shorter time range`,
        )
      }
    },
  }
}

export function sizeOf(texts: Iterable<string>): number {
  let size = overhead
  for (const text of texts) size += overhead + 2 * text.length
  return size
}

export function sizeOfRow(row: Row): number {
  let size = overhead
  for (const [name, value] of row) size += overhead + 2 * (name.length + value.length)
  return size
}

/** Values of some fields as one text. */
export function keyOf(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? '') : JSON.stringify(values)
}

export function valuesOf(row: Row, fields: readonly string[]): readonly string[] {
  return fields.map(field => row.get(field) ?? '')
}

/** Sets a field; an empty value removes it. */
export function setField(row: Row, field: string, value: string): void {
  if (value === '') row.delete(field)
  else row.set(field, value)
}

/** Field names, which may be prefixes that end with `*`. */
export function createNameTest(fields: readonly string[]): (name: string) => boolean {
  const names = new Set(fields)
  const prefixes = fields.flatMap(field => (field.endsWith('*') ? [field.slice(0, -1)] : []))
  return name => names.has(name) || prefixes.some(prefix => name.startsWith(prefix))
}

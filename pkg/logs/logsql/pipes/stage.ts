import { badRequest } from '../../../apierrors/status.ts'
import type { Row } from '../row.ts'
import type { Steps } from './sort-in-steps.ts'

/** A stage of a pipeline: receives rows one by one and sends rows to the next stage. */
export type Stage = {
  /**
   * Takes a row.
   *
   * @param lines number of lines that the row stands for; only the first stage may get other than 1
   * @returns false if further rows cannot change the result
   */
  readonly push: (row: Row, lines?: number) => boolean
  /** Called after the last row. Sends the remaining results. */
  readonly end: () => Steps
}

/** The `end` of a stage without remaining results. */
export function* endWithoutRows(): Steps {}

/** Counts the memory that a query uses. Negative amounts are released. */
export type Budget = { readonly take: (bytes: number) => void }

// Memory of an entry of a map or row, in addition to its text.
const overhead = 64

/** Creates a budget whose `take` throws Status 400 if the limit is exceeded. */
export function createBudget(maxBytes: number): Budget {
  let taken = 0
  return {
    take: bytes => {
      taken += bytes
      if (taken > maxBytes) {
        throw badRequest(
          `query: needs more than ${maxBytes / 1024 / 1024} MiB of memory: sort with a limit, group by fewer values, or use a shorter time range`,
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

/** Returns a key for a combination of values. */
export function keyOf(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? '') : JSON.stringify(values)
}

export function valuesOf(row: Row, fields: readonly string[]): readonly string[] {
  return fields.map(field => row.get(field) ?? '')
}

/** Sets a field. An empty value removes the field. */
export function setField(row: Row, field: string, value: string): void {
  if (value === '') row.delete(field)
  else row.set(field, value)
}

/** Returns a function that tests names against names and prefixes (`name*`). */
export function createNameTest(fields: readonly string[]): (name: string) => boolean {
  const names = new Set(fields)
  const prefixes = fields.flatMap(field => (field.endsWith('*') ? [field.slice(0, -1)] : []))
  return name => names.has(name) || prefixes.some(prefix => name.startsWith(prefix))
}

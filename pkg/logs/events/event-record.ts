import type { Fields } from '../field-values.ts'
import { anyOf, type Expression, isOneOf, match } from '../filter/expression.ts'

/** The searchable values of an event by name: a string or a list of strings. */
export type Columns = Readonly<Record<string, string | readonly string[]>>

/** Maximum length of an event as JSON; longer ones are truncated. */
export const longestEntry = 64 * 1024
// Limits the length of values, which are stored: callers can create names of any length.
const longestValue = 2_000
const maxValues = 100

/** Returns the fields of an event's record. Empty values are omitted. */
export function toFields(columns: Columns): Fields {
  const fields: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(columns)) {
    if (typeof value !== 'string') fields[name] = value.slice(0, maxValues).map(cut)
    else if (value !== '') fields[name] = cut(value)
  }
  return fields
}

/** Returns a condition: a field has one of the values exactly. */
export function hasValue(field: string, values: readonly string[]): Expression {
  return isOneOf({ field }, values.map(cut))
}

/** Returns a condition: a field contains one of the substrings, ignoring case. */
export function hasPart(field: string, parts: readonly string[]): Expression {
  return anyOf(parts.map(text => match({ field }, { kind: 'contains', text, caseSensitive: false })))
}

function cut(value: string): string {
  return value.slice(0, longestValue)
}

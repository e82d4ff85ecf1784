import type { Fields } from '../field-values.ts'
import { anyOf, type Expression, isOneOf, match } from '../filter/expression.ts'

/** The searchable values of an event, by name: a text, or a list of them. */
export type Columns = Readonly<Record<string, string | readonly string[]>>

/** Maximum length of an event as JSON; longer ones are truncated. */
export const longestEntry = 64 * 1024
// A caller can create names as long as a request.
const longestValue = 2_000
const mostValues = 100

/** The fields of the record of an event; empty values are left out. */
export function toFields(columns: Columns): Fields {
  const fields: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(columns)) {
    if (typeof value !== 'string') fields[name] = value.slice(0, mostValues).map(cut)
    else if (value !== '') fields[name] = cut(value)
  }
  return fields
}

/** Selects events by exact values of a field. */
export function hasValue(field: string, values: readonly string[]): Expression {
  return isOneOf({ field }, values.map(cut))
}

/** Selects events by substrings of a field, ignoring case. */
export function hasPart(field: string, parts: readonly string[]): Expression {
  return anyOf(parts.map(text => match({ field }, { kind: 'contains', text, caseSensitive: false })))
}

function cut(value: string): string {
  return value.slice(0, longestValue)
}

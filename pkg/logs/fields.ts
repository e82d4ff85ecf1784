import { isRecord } from '../kubeclient/object.ts'

/** Numbers are as they were sent: integers that a double does not hold are bigints. */
export type FieldScalar = string | number | bigint | boolean
export type FieldValue = FieldScalar | readonly FieldScalar[]

/** What is known of a line by name; several values of one name are a list. */
export type Fields = Readonly<Record<string, FieldValue>>

/** The values of a field as text; none when it is missing. */
export function fieldValues(fields: Fields | undefined, name: string): readonly string[] {
  const value = fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
  if (value === undefined) return []
  return typeof value === 'object' ? value.map(String) : [String(value)]
}

/** JSON of any value, in which bigints keep their digits, and NaN and Infinity are texts. */
export function formatJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : `"${value}"`
  if (Array.isArray(value)) return `[${value.map(formatJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${formatJson(member)}`,
  )
  return `{${members.join(',')}}`
}

/**
 * @param json as `formatJson` makes it of fields
 * @throws Error when it is anything else
 */
export function parseFields(json: string): Fields {
  const parsed = parseExactJson(json)
  if (!isFields(parsed)) throw new Error('invalid fields of a line: expected an object of values')
  return parsed
}

function isFields(value: unknown): value is Fields {
  return isRecord(value) && Object.values(value).every(isFieldValue)
}

function isFieldValue(value: unknown): value is FieldValue {
  return Array.isArray(value) ? value.every(isScalar) : isScalar(value)
}

export function isScalar(value: unknown): value is FieldScalar {
  return typeof value !== 'object' && value !== undefined
}

const integer = /^-?\d+$/

/**
 * JSON.parse, but for integers that a double does not hold: these are bigints.
 *
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text)
  try {
    return hasLargeInteger(parsed) ? JSON.parse(text, toExact) : parsed
  } catch (error) {
    // What is nested too deep for these two is nevertheless read.
    if (error instanceof RangeError) return parsed
    throw error
  }
}

function hasLargeInteger(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  for (const member of Object.values(value)) if (hasLargeInteger(member)) return true
  return false
}

function toExact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return integer.test(source) ? BigInt(source) : value
}

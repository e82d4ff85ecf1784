import { isRecord } from '../kubeclient/object/object.ts'

/** A JSON scalar as received: integers beyond Number.MAX_SAFE_INTEGER are bigints. */
export type FieldScalar = string | number | bigint | boolean
export type FieldValue = FieldScalar | readonly FieldScalar[]

/** Additional fields of a line by name. A field with several values has a list. */
export type Fields = Readonly<Record<string, FieldValue>>

/** Returns the values of a field as strings; none if it is missing. */
export function fieldValues(fields: Fields | undefined, name: string): readonly string[] {
  const value = fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
  if (value === undefined) return []
  return typeof value === 'object' ? value.map(scalarText) : [scalarText(value)]
}

/** Returns the text of a scalar. Unlike String, keeps the sign of -0. */
export function scalarText(value: FieldScalar): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Serializes any value as JSON. Bigints become numbers; NaN and Infinity become strings. */
export function formatJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? scalarText(value) : `"${value}"`
  if (Array.isArray(value)) return `[${value.map(formatJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${formatJson(member)}`,
  )
  return `{${members.join(',')}}`
}

/** Parses fields. @param json the output of `formatJson` @throws Error for another value */
export function parseFields(json: string): Fields {
  const parsed = parseExactJson(json)
  if (!isFields(parsed)) throw new Error('invalid fields of a line: expected an object of values')
  return parsed
}

const anyString = /"[^"\\]*(?:\\.[^"\\]*)*"/.source
const scalarOrList = new RegExp(`${anyString}|\\[[^"\\]]*(?:${anyString}[^"\\]]*)*\\]|[^,}]+`, 'y')

/**
 * Returns at least the fields with the given names. Usually parses only their values, which is much
 * faster than parsing all fields.
 *
 * @param json the output of `formatJson` for fields
 * @throws SyntaxError
 */
export function pickFields(json: string, names: readonly string[]): Fields {
  if (names.some(name => /^[:,\]}]/.test(name))) return parseFields(json)
  return Object.fromEntries(
    names.flatMap(name => {
      const at = valueAt(json, `${JSON.stringify(name)}:`)
      if (at === undefined) return []
      scalarOrList.lastIndex = at
      const value = parseExactJson(scalarOrList.exec(json)?.[0] ?? '')
      return isFieldValue(value) ? [[name, value] as const] : []
    }),
  )
}

/**
 * Returns the position after a name and its colon; undefined if there is none. A quotation mark
 * within a string follows a backslash. One that ends a string precedes `:`, `,`, `]` or `}`, with
 * which the name must not begin.
 */
function valueAt(json: string, name: string): number | undefined {
  for (let at = json.indexOf(name); at !== -1; at = json.indexOf(name, at + 1)) {
    const before = json[at - 1]
    if (before === '{' || before === ',') return at + name.length
  }
  return undefined
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
 * Like JSON.parse, but with bigints for integers beyond Number.MAX_SAFE_INTEGER, and with the source
 * text of numbers beyond Number.MAX_VALUE.
 *
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text)
  try {
    return hasLargeNumber(parsed) ? JSON.parse(text, toExact) : parsed
  } catch (error) {
    // Nested too deeply for these recursive functions. Large numbers stay rounded.
    if (error instanceof RangeError) return parsed
    throw error
  }
}

function hasLargeNumber(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return false
  for (const member of Object.values(value)) if (hasLargeNumber(member)) return true
  return false
}

function toExact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  if (integer.test(source)) return BigInt(source)
  return Number.isFinite(value) ? value : source
}

const stringOrNonNumber = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|(?<![\w.])-?(?:NaN|Infinity)(?![\w.])/gs

/** Quotes NaN and Infinity, which Python's json.dumps writes, in linear time. */
export function quoteNonNumbers(text: string): string {
  return text.replace(stringOrNonNumber, found => (found.startsWith('"') ? found : `"${found}"`))
}

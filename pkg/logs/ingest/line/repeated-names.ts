import { eachChild, skipBlank, skipValue } from '../../../json/scan.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'
import { parseExactJson } from '../../field-values.ts'

export type RepeatedNames = {
  /** Values that a later one of the same object replaced, by flattened name (`a.b.c`). */
  readonly values: readonly (readonly [name: string, value: unknown])[]
  /** Whether an object in a list repeats a name. The replaced values cannot be stored by name. */
  readonly isInList: boolean
}

const none: RepeatedNames = { values: [], isInList: false }
// A quote before a colon, unless it is escaped by a single backslash, as in texts that have JSON.
const nameEnd = /(?<!(?:^|[^\\])\\)"\s*:/g

/**
 * Returns the values of a JSON text that JSON.parse drops, because their object repeats their name
 * (as zap and zerolog do for a field that is added twice).
 *
 * @param text valid JSON
 * @param parsed the parsed text
 */
export function findRepeatedNames(text: string, parsed: unknown): RepeatedNames {
  try {
    if (countNames(parsed) === countNameEnds(text)) return none
    const found = { values: [] as [string, unknown][], isInList: false }
    visit(text, skipBlank(text, 0), '', found)
    return found
  } catch (error) {
    // Nested too deeply for these recursive functions.
    if (error instanceof RangeError) return none
    throw error
  }
}

/** Counts the names of all objects in an object or a list. Runs for each line, hence the loops. */
function countNames(container: unknown): number {
  let count = 0
  const add = (value: unknown) => {
    if (typeof value === 'object' && value !== null) count += countNames(value)
  }
  if (Array.isArray(container)) for (const item of container) add(item)
  else if (isRecord(container))
    for (const name in container) {
      count += 1
      add(container[name])
    }
  return count
}

/**
 * Returns the number of names in a JSON text; for unusual texts it may be too high, but never too
 * low.
 */
function countNameEnds(text: string): number {
  let count = 0
  nameEnd.lastIndex = 0
  while (nameEnd.test(text)) count += 1
  return count
}

type RepeatedValues = { readonly values: [string, unknown][]; isInList: boolean }

/** @param path flattened name of the value, with a dot at the end; undefined in a list */
function visit(text: string, at: number, path: string | undefined, found: RepeatedValues): number {
  const seen = new Map<string, string>()
  return eachChild(text, at, ({ step, valueStart }) => {
    const isName = typeof step === 'string'
    const inner = isName && path !== undefined ? `${path}${step}` : undefined
    const isContainer = text[valueStart] === '{' || text[valueStart] === '['
    const end = isContainer
      ? visit(text, valueStart, inner === undefined ? undefined : `${inner}.`, found)
      : skipValue(text, valueStart)
    if (!isName) return end
    const earlier = seen.get(step)
    if (earlier !== undefined && inner === undefined) found.isInList = true
    else if (earlier !== undefined && inner !== undefined) found.values.push([inner, parseExactJson(earlier)])
    seen.set(step, text.slice(valueStart, end))
    return end
  })
}

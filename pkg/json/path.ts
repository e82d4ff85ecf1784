import { eachChild, skipBlank, skipValue } from './scan.ts'

/** Names of members and places in lists, from the outside in; '*' is any item or member. */
export type Steps = readonly (string | number)[]

/**
 * The source text of what a path leads to: the first value, undefined when there is none. Nothing is parsed, so numbers of any size
 * are exact; the text is gone through once, however long the path is.
 */
export function findPath(json: string, steps: Steps): string | undefined {
  const { found } = scan(json, skipBlank(json, 0), steps, 0)
  return found && json.slice(found.start, found.end)
}

type Range = { readonly start: number; readonly end: number }

/** @returns the position after the value at `at`, and what the steps from `depth` on lead to in it */
function scan(
  json: string,
  at: number,
  steps: Steps,
  depth: number,
): { end: number; found: Range | undefined } {
  const wanted = steps[depth]
  if (wanted === undefined) {
    const end = skipValue(json, at)
    return { end, found: end > at ? { start: at, end } : undefined }
  }
  let found: Range | undefined
  const end = eachChild(json, at, ({ step, valueStart }) => {
    if (wanted === '*' ? found !== undefined : step !== wanted) return skipValue(json, valueStart)
    const inner = scan(json, valueStart, steps, depth + 1)
    // Of several members of one name the last counts, as for JSON.parse.
    found = inner.found
    return inner.end
  })
  return { end, found }
}

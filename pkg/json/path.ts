import { itemTexts, membersIn, memberText } from './members.ts'

/** Names of members and places in lists, from the outside in; '*' is any item or member. */
export type Steps = readonly (string | number)[]

/**
 * The source text of what a path leads to: the first value, undefined when there is none. Nothing is parsed, so numbers of any size
 * are exact.
 */
export function findPath(json: string, steps: Steps): string | undefined {
  const [step, ...rest] = steps
  if (step === undefined) return json
  if (step === '*') {
    for (const text of childrenOf(json)) {
      const found = findPath(text, rest)
      if (found !== undefined) return found
    }
    return undefined
  }
  const found = typeof step === 'number' ? itemTexts(json)[step] : memberText(json, step)
  return found === undefined || found === '' ? undefined : findPath(found, rest)
}

function childrenOf(json: string): readonly string[] {
  if (json.startsWith('[')) return itemTexts(json)
  return membersIn(json).map(({ valueStart, end }) => json.slice(valueStart, end))
}

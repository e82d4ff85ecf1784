import { skipString } from './scan.ts'

/** Nesting beyond the limit. The message contains no input, so clients may see it. */
export class JsonTooDeep extends SyntaxError {
  constructor(maxDepth: number) {
    super(`the JSON is nested deeper than ${maxDepth} levels`)
  }
}

/**
 * JSON.parse for untrusted input. Limits the nesting depth, because callers process the value
 * recursively.
 *
 * @throws SyntaxError for invalid JSON
 * @throws JsonTooDeep
 */
export function parseJson(text: string, maxDepth = 100): unknown {
  const value: unknown = JSON.parse(text)
  if (isDeeper(text, maxDepth)) throw new JsonTooDeep(maxDepth)
  return value
}

function isDeeper(text: string, maxDepth: number): boolean {
  // A text with at most `maxDepth` opening brackets, like most, cannot be deeper: no scan needed.
  if (!hasMore(text, maxDepth)) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) i = skipString(text, i) - 1
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

function hasMore(text: string, count: number): boolean {
  let found = 0
  for (const open of '{[')
    for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at + 1))
      if (++found > count) return true
  return false
}

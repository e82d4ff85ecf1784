import { skipString } from './scan.ts'

/** The message is safe to return to the sender: it contains none of the text. */
export class JsonTooDeep extends SyntaxError {
  constructor(maxDepth: number) {
    super(`the JSON is nested deeper than ${maxDepth} levels`)
  }
}

/**
 * JSON.parse for untrusted input with a limit of depth, since code that processes the value may
 * recurse.
 *
 * @throws SyntaxError for invalid JSON, JsonTooDeep
 */
export function parseJson(text: string, maxDepth = 100): unknown {
  const value: unknown = JSON.parse(text)
  if (isDeeper(text, maxDepth)) throw new JsonTooDeep(maxDepth)
  return value
}

/** @param text valid JSON */
function isDeeper(text: string, maxDepth: number): boolean {
  // Most texts have fewer brackets than the limit, and need no further check.
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

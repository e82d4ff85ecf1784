import { skipString } from '../../../json/scan.ts'
import { parseExactJson } from '../../field-values.ts'
import type { IngestLimits } from '../limits.ts'

/** A JSON text with too many values, which would take many times its memory. */
export class TooManyValues extends Error {
  constructor(limit: number) {
    super(`has more than ${limit} values`)
  }
}

/** Parses JSON with a limit on the number of values. @throws TooManyValues, SyntaxError */
export function parseBounded(text: string, { jsonValues }: Pick<IngestLimits, 'jsonValues'>): unknown {
  // Counts only if necessary: each value has at least one character.
  if (text.length > jsonValues && countValues(text, jsonValues) > jsonValues)
    throw new TooManyValues(jsonValues)
  return parseExactJson(text)
}

/** Returns an upper bound of the number of values in a JSON text. Stops counting above `most`. */
function countValues(text: string, most: number): number {
  let count = 1
  for (let at = 0; at < text.length && count <= most; at += 1) {
    const token = text.charCodeAt(at)
    if (token === 0x22) at = skipString(text, at) - 1
    // A comma, an opening bracket, an opening brace.
    else if (token === 0x2c || token === 0x5b || token === 0x7b) count += 1
  }
  return count
}

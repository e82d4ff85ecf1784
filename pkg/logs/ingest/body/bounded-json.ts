import { badRequest, Status } from '../../../apierrors/status.ts'
import { skipString } from '../../../json/scan.ts'
import { parseExactJson, quoteNonNumbers } from '../../field-values.ts'
import type { IngestLimits } from '../limits.ts'

/** A JSON text with too many values, which would take many times its memory. */
export class TooManyValues extends Error {
  constructor(limit: number) {
    super(`has more than ${limit} values`)
  }
}

type Limits = Pick<IngestLimits, 'jsonValues'>

/**
 * Parses JSON with a limit on the number of values. Accepts what loggers write although JSON does
 * not allow it: a byte order mark, NaN and Infinity, control characters and unknown escapes.
 *
 * @returns the value, and the text as valid JSON
 * @throws TooManyValues, SyntaxError
 */
export function parseBounded(
  json: string,
  { jsonValues }: Limits,
): { readonly value: unknown; readonly text: string } {
  const text = json.startsWith('\ufeff') ? json.slice(1) : json
  // Counts only if necessary: each value has at least one character.
  if (text.length > jsonValues && countValues(text, jsonValues) > jsonValues)
    throw new TooManyValues(jsonValues)
  try {
    return { value: parseExactJson(text), text }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const repaired = repair(text)
    if (repaired === text) throw error
    return { value: parseExactJson(repaired), text: repaired }
  }
}

/** Parses a body that is one JSON text. @throws Status 400, 413 */
export function parseBody(body: Buffer, limits: Limits): unknown {
  try {
    return parseBounded(body.toString('utf8'), limits).value
  } catch (error) {
    if (error instanceof TooManyValues)
      throw new Status(413, 'RequestEntityTooLarge', `the body ${error.message}`)
    throw badRequest('the body is not valid JSON')
  }
}

const strings = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/gs
// A valid escape, any other backslash, or a control character.
const escapes = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|\\|\p{Cc}/gu

/** Quotes numbers that are not in JSON, and escapes what strings must not contain. */
function repair(text: string): string {
  const isSuspect = text.includes('\\') || /\p{Cc}/u.test(text)
  const escaped = isSuspect ? text.replace(strings, found => found.replace(escapes, toEscape)) : text
  return quoteNonNumbers(escaped)
}

function toEscape(found: string): string {
  if (found.length > 1) return found
  return found === '\\' ? '\\\\' : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
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

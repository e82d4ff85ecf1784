/**
 * Like JSON.parse, but returns integers beyond Number.MAX_SAFE_INTEGER as bigint. Recurses:
 * untrusted input needs a depth limit first (`parseJson`).
 *
 * @throws SyntaxError
 */
export function parseExactly(json: string): unknown {
  // Integers of at most 15 digits are exact as numbers.
  return /\d{16}/.test(json) ? JSON.parse(json, toExact) : JSON.parse(json)
}

/** @param context has the source text of the value ("JSON.parse source text access", ECMAScript) */
function toExact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source ?? ''
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value
}

import { decodeString, firstIn, nextIn, skipBlank, skipString, skipValue, valueAfter } from './scan.ts'

/**
 * Like JSON.parse, but returns integers beyond Number.MAX_SAFE_INTEGER as bigint. Recurses:
 * untrusted input needs a depth limit first (`parseJson`).
 *
 * @throws SyntaxError
 */
export function parseExactly(json: string): unknown {
  const value: unknown = JSON.parse(json)
  // Integers of at most 15 digits are exact as numbers.
  return /\d{16}/.test(json) ? read(json, skipBlank(json, 0)).value : value
}

function read(json: string, start: number): { readonly value: unknown; readonly end: number } {
  const open = json[start]
  if (open !== '{' && open !== '[') {
    const end = skipValue(json, start)
    return { value: toScalar(json, start, end), end }
  }
  const items: unknown[] = []
  const members: [string, unknown][] = []
  let end = start + 1
  for (let at = firstIn(json, start); at >= 0; at = nextIn(json, end)) {
    const keyEnd = open === '{' ? skipString(json, at) : at
    const found = read(json, open === '{' ? valueAfter(json, keyEnd) : at)
    if (open === '{') members.push([decodeString(json, at, keyEnd), found.value])
    else items.push(found.value)
    end = found.end
  }
  return { value: open === '{' ? Object.fromEntries(members) : items, end: skipBlank(json, end) + 1 }
}

function toScalar(json: string, start: number, end: number): unknown {
  if (json[start] === '"') return decodeString(json, start, end)
  const source = json.slice(start, end)
  const value: unknown = JSON.parse(source)
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value
}

import { firstIn, nextIn, skipBlank, skipString, skipValue, valueAfter } from './scan.ts'

// Deeper values are not indented: the indentation grows with the square of the depth.
const maxDepth = 64

/**
 * Indents JSON by two spaces per level, like JSON.stringify. Strings and numbers keep their source
 * text.
 *
 * @param margin prefix of all lines but the first
 */
export function indentJson(json: string, margin = ''): string {
  const out: string[] = []
  write(json, skipBlank(json, 0), { out, margin, depth: 0 })
  return out.join('')
}

type OutputPosition = { readonly out: string[]; readonly margin: string; readonly depth: number }

/** Writes the value at `start`. Returns the position after it. */
function write(json: string, start: number, { out, margin, depth }: OutputPosition): number {
  const open = json[start]
  const isObject = open === '{'
  let at = isObject || open === '[' ? firstIn(json, start) : -1
  if (at < 0 || depth >= maxDepth) {
    const end = skipValue(json, start)
    out.push(at < 0 ? withoutBlank(json, start, end) : json.slice(start, end))
    return end
  }
  const inner = `${margin}  `
  let separator = `${open}\n${inner}`
  let end = start
  while (at >= 0) {
    out.push(separator)
    separator = `,\n${inner}`
    let valueAt = at
    if (isObject) {
      const keyEnd = skipString(json, at)
      out.push(json.slice(at, keyEnd), ': ')
      valueAt = valueAfter(json, keyEnd)
    }
    end = write(json, valueAt, { out, margin: inner, depth: depth + 1 })
    at = nextIn(json, end)
  }
  out.push('\n', margin, isObject ? '}' : ']')
  return skipBlank(json, end) + 1
}

/** Returns a scalar unchanged, and an empty container as `{}` or `[]`. */
function withoutBlank(json: string, start: number, end: number): string {
  const first = json[start]
  return first === '{' ? '{}' : first === '[' ? '[]' : json.slice(start, end)
}

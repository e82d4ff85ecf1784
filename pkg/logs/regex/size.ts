// Sizes in instructions, weighted by their time. A Unicode class has hundreds of ranges; each
// character of a range beyond ASCII is looked up in both cases.
const classCost = 200
const rangeCost = 1_000

// Braces after \p or \x are a class or character, no repetition. The bound keeps the scan linear.
const escaped = String.raw`\\(?:[pPxX](?:\{[^}]{0,64}\})?|[\s\S])?`
// A bracket in the first position of a class is literal.
const characterClass = String.raw`\[\^?\]?(?:\[:\^?\w*:\]|${escaped}|[^\]\\])*\]?`
const item = new RegExp(String.raw`\{(\d{1,9})(?:,(\d{1,9})?)?\}|${escaped}|${characterClass}|[\s\S]`, 'g')

/** An open group: the total before it, and the size of its last item, which may be repeated. */
type Group = { readonly before: number; last: number; readonly outer?: Group }

/**
 * Estimates the number of instructions of a regular expression without compiling it: `(a{30}){30}`
 * has eleven characters and a thousand instructions. Works for invalid expressions, too.
 *
 * @param limit counting stops beyond this number
 */
export function regexSize(source: string, limit: number): number {
  let group: Group = { before: 0, last: 0 }
  let total = 3
  for (const [text, min, max = min] of source.matchAll(item)) {
    if (total > limit) break
    if (min !== undefined) {
      const size = (group.last + 1) * Math.max(Number(min), Number(max), 1)
      total += size - group.last
      group.last = size
    } else if (text === '(') group = { before: total, last: 0, outer: group }
    else if (text === ')') {
      const size = group.outer === undefined ? 0 : total - group.before
      group = group.outer ?? group
      group.last = size + 2
      total += 2
    } else if ('*+?|'.includes(text)) total += 2
    else {
      group.last = sizeOfItem(text)
      total += group.last
    }
  }
  return total
}

/** Returns the size of a character, an escape or a class. */
function sizeOfItem(text: string): number {
  if (/^\\p/i.test(text)) return classCost
  if (text.length === 1 || !text.startsWith('[')) return 1
  const properties = text.match(/\\p/gi)?.length ?? 0
  const hasRange = text.replace(/\\./gs, '').includes('-')
  const isBeyondAscii = /[^\p{ASCII}]|\\x\{/u.test(text)
  return 1 + properties * (classCost - 1) + (hasRange && isBeyondAscii ? rangeCost : 0)
}

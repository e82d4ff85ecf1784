// Sizes in instructions, weighted by their time. A Unicode class has hundreds of ranges; each
// character of a range beyond ASCII is looked up in both cases.
const classCost = 200
const rangeCost = 1_000
const repetition = /\{(\d{1,9})(?:(,)(\d{1,9})?)?\}/y
const braced = /\{[^}]*\}/y

/** The size of an item of an expression, and the end of its source text. */
type ParsedSize = { readonly size: number; readonly end: number }

/**
 * Estimates the number of instructions of a regular expression without compiling it: `(a{30}){30}`
 * has eleven characters and a thousand instructions. Works for invalid expressions, too.
 *
 * @param limit counting stops beyond this number
 */
export function regexSize(source: string, limit: number): number {
  const count = createCount()
  let at = 0
  while (at < source.length && count.total() <= limit) {
    const repeated = matchAt(repetition, source, at)
    if (repeated !== null) {
      const [text, min = '', , max = min] = repeated
      count.repeatLast(Math.max(Number(min), Number(max), 1))
      at += text.length
      continue
    }
    const char = source[at] ?? ''
    if (char === '\\' || char === '[') {
      const { size, end } = char === '[' ? readClass(source, at) : readEscape(source, at)
      count.add(size)
      at = end
      continue
    }
    at++
    if (char === '(') count.open()
    else if (char === ')') count.close()
    else if ('*+?|'.includes(char)) count.addToLast(2)
    else count.add(1)
  }
  return count.total()
}

/** Creates a counter of instructions. It tracks groups, because a group may be repeated. */
function createCount() {
  /** Open groups, outermost first: the total before each, and the size of its last item. */
  const groups: { readonly before: number; last: number }[] = [{ before: 0, last: 0 }]
  let total = 3
  const lastOf = () => groups.at(-1) ?? { before: 0, last: 0 }
  const add = (size: number) => {
    lastOf().last = size
    total += size
  }
  return {
    total: () => total,
    add,
    addToLast(size: number) {
      total += size
    },
    repeatLast(times: number) {
      const item = lastOf()
      const size = (item.last + 1) * times
      total += size - item.last
      item.last = size
    },
    open: () => void groups.push({ before: total, last: 0 }),
    close() {
      const group = groups.length > 1 ? groups.pop() : undefined
      const size = group === undefined ? 0 : total - group.before
      total -= size
      add(size + 2)
    },
  }
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(source)
}

/** Reads an escape. Braces after \p or \x are a class or character, no repetition. */
function readEscape(source: string, at: number): ParsedSize {
  const kind = (source[at + 1] ?? '').toLowerCase()
  const name = kind === 'p' || kind === 'x' ? (matchAt(braced, source, at + 2)?.[0] ?? '') : ''
  return { size: kind === 'p' ? classCost : 1, end: at + 2 + name.length }
}

function readClass(source: string, start: number): ParsedSize {
  let size = 1
  let [hasRange, isBeyondAscii] = [false, false]
  let at = source[start + 1] === '^' ? start + 2 : start + 1
  const first = at
  while (at < source.length) {
    const char = source[at++] ?? ''
    // A bracket in the first position is literal.
    if (char === ']' && at > first + 1) break
    if (char === '-') hasRange = true
    if (char > '\x7f' || source.startsWith('x{', at)) isBeyondAscii = true
    if (char === '[' && source[at] === ':') at = Math.max(at, source.indexOf(':]', at) + 2)
    if (char !== '\\') continue
    const escaped = readEscape(source, at - 1)
    size += escaped.size - 1
    at = escaped.end
  }
  return { size: size + (hasRange && isBeyondAscii ? rangeCost : 0), end: at }
}

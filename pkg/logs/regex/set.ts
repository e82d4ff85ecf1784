import type { Reader } from './reader.ts'

/** Code points from the first to the second, both included. */
export type Range = readonly [number, number]

const last = 0x10ffff
const digits: readonly Range[] = [[0x30, 0x39]]
const wordCharacters: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
const spaces: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const classes: ReadonlyMap<string, readonly Range[]> = new Map([
  ['d', digits],
  ['D', complement(digits)],
  ['w', wordCharacters],
  ['W', complement(wordCharacters)],
  ['s', spaces],
  ['S', complement(spaces)],
])
const controls: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['f', 12],
  ['v', 11],
  ['0', 0],
])

/** `[…]`, from behind the opening bracket. */
export function readSet(reader: Reader): { readonly ranges: readonly Range[]; readonly negated: boolean } {
  const start = reader.at - 1
  const negated = reader.take('^')
  const ranges: Range[] = []
  if (reader.peek() === ']') reader.fail('a set cannot be empty', start)
  while (!reader.take(']')) ranges.push(...readMember(reader, start))
  return { ranges, negated }
}

/** What follows a backslash. */
export function readEscape(reader: Reader): readonly Range[] {
  const start = reader.at - 1
  const code = reader.find(/^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\})/i)
  if (code !== undefined) {
    const value = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16)
    return value > last ? reader.fail('above the last code point', start) : [[value, value]]
  }
  const next = reader.next()
  if (next === undefined) return reader.fail('nothing follows the \\', start)
  const known = classes.get(next)
  if (known !== undefined) return known
  const control = controls.get(next)
  if (control !== undefined) return [[control, control]]
  if (next === 'x' || next === 'u') return reader.fail('must be \\xHH, \\uHHHH or \\u{H…}', start)
  if (/^[1-9]$/.test(next)) return reader.fail('back-references are not supported', start)
  if (/^[A-Za-z]$/.test(next)) return reader.fail(`\\${next} is not supported`, start)
  return [only(next)]
}

/** The range of one character. */
export function only(character: string): Range {
  const code = character.codePointAt(0) ?? 0
  return [code, code]
}

function readMember(reader: Reader, open: number): readonly Range[] {
  const start = reader.at
  const low = readCharacter(reader, open)
  const beyond = reader.peek(1)
  if (reader.peek() !== '-' || beyond === ']' || beyond === undefined) return low
  reader.next()
  const [from, to] = [singleOf(low), singleOf(readCharacter(reader, open))]
  if (from === undefined || to === undefined) {
    return reader.fail('a range needs a character at both ends', start)
  }
  return from <= to ? [[from, to]] : reader.fail('the ends of the range are in the wrong order', start)
}

function readCharacter(reader: Reader, open: number): readonly Range[] {
  const next = reader.next()
  if (next === undefined) return reader.fail('this [ is not closed', open)
  return next === '\\' ? readEscape(reader) : [only(next)]
}

function singleOf(ranges: readonly Range[]): number | undefined {
  const [range] = ranges
  return ranges.length === 1 && range !== undefined && range[0] === range[1] ? range[0] : undefined
}

function complement(ranges: readonly Range[]): readonly Range[] {
  const gaps: Range[] = []
  let from = 0
  for (const [low, high] of ranges) {
    if (from < low) gaps.push([from, low - 1])
    from = high + 1
  }
  return [...gaps, [from, last]]
}

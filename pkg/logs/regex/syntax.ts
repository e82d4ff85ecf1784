import { createReader, type Reader, type Report } from './reader.ts'
import { only, type Range, readEscape, readSet } from './set.ts'

/**
 * A regular expression of the kind that takes linear time: no look-around, no back-references. Groups are gone from it,
 * and so is the difference between greedy and lazy, because all that is asked is whether something matches.
 */
export type RegexNode =
  /** One character: of the ranges or, negated, of none of them. */
  | { readonly kind: 'set'; readonly ranges: readonly Range[]; readonly negated: boolean }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly item: RegexNode; readonly min: number; readonly max: number }
  | { readonly kind: 'assert'; readonly at: Assertion }

/** `$` also holds before a line break that ends the text, as lines usually have one. */
export type Assertion = 'start' | 'end' | 'boundary' | 'inside'

const maxDepth = 50
const maxTimes = 1000

/**
 * Literals, `.`, `[…]`, `\d \w \s` and their opposites, `^ $ \b \B`, groups, `|`, `* + ? {n} {n,} {n,m}`. `\b` is where a
 * word of `wordsOf` begins or ends.
 */
export function parseRegex(source: string, report: Report = refuse): RegexNode {
  const reader = createReader(source, report)
  const node = readChoice(reader, 1)
  if (reader.peek() !== undefined) reader.fail('this ) closes nothing')
  return node
}

function refuse(message: string, offset: number): never {
  throw new Error(`regular expression: ${message} (at ${offset})`)
}

function readChoice(reader: Reader, depth: number): RegexNode {
  if (depth > maxDepth) reader.fail(`groups are nested more than ${maxDepth} deep`)
  const first = readSequence(reader, depth)
  const options = [first]
  while (reader.take('|')) options.push(readSequence(reader, depth))
  return options.length === 1 ? first : { kind: 'choice', options }
}

function readSequence(reader: Reader, depth: number): RegexNode {
  const items: RegexNode[] = []
  for (let next = reader.peek(); next !== undefined && next !== '|' && next !== ')'; next = reader.peek()) {
    items.push(readRepeat(reader, readAtom(reader, depth)))
  }
  return { kind: 'sequence', items }
}

function readAtom(reader: Reader, depth: number): RegexNode {
  const start = reader.at
  const next = reader.next() ?? ''
  switch (next) {
    case '(':
      return readGroup(reader, depth)
    case '[':
      return { kind: 'set', ...readSet(reader) }
    case '.':
      return { kind: 'set', ranges: [[10, 10]], negated: true }
    case '^':
      return { kind: 'assert', at: 'start' }
    case '$':
      return { kind: 'assert', at: 'end' }
    case '\\':
      if (reader.take('b')) return { kind: 'assert', at: 'boundary' }
      if (reader.take('B')) return { kind: 'assert', at: 'inside' }
      return { kind: 'set', ranges: readEscape(reader), negated: false }
    case '*':
    case '+':
    case '?':
    case '{':
      return reader.fail(`nothing to repeat before ${next}`, start)
    default:
      return { kind: 'set', ranges: [only(next)], negated: false }
  }
}

function readGroup(reader: Reader, depth: number): RegexNode {
  const start = reader.at - 1
  if (reader.take('?') && !reader.take(':')) {
    reader.fail('groups that begin with (? are not supported, but for (?:', start)
  }
  const inner = readChoice(reader, depth + 1)
  return reader.take(')') ? inner : reader.fail('this ( is not closed', start)
}

function readRepeat(reader: Reader, item: RegexNode): RegexNode {
  const start = reader.at
  const times = readTimes(reader)
  if (times === undefined) return item
  if (item.kind === 'assert') reader.fail('there is nothing here to repeat', start)
  reader.take('?')
  if (readTimes(reader) !== undefined) reader.fail('a repetition cannot be repeated; use a group', start)
  return { kind: 'repeat', item, min: times[0], max: times[1] }
}

function readTimes(reader: Reader): Range | undefined {
  if (reader.take('*')) return [0, Number.POSITIVE_INFINITY]
  if (reader.take('+')) return [1, Number.POSITIVE_INFINITY]
  if (reader.take('?')) return [0, 1]
  if (reader.peek() !== '{') return undefined
  const start = reader.at
  const found = reader.find(/^\{([0-9]{1,4})(,([0-9]{0,4}))?\}/)
  if (found === undefined)
    return reader.fail('{ begins {n}, {n,} or {n,m}; the character itself is \\{', start)
  const min = Number(found[1])
  const max = found[2] === undefined ? min : found[3] ? Number(found[3]) : Number.POSITIVE_INFINITY
  if (min > max) reader.fail('the lower bound is above the upper one', start)
  if (min > maxTimes || (max > maxTimes && max !== Number.POSITIVE_INFINITY)) {
    reader.fail(`at most ${maxTimes} times are supported`, start)
  }
  return [min, max]
}

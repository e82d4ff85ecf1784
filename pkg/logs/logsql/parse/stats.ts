import { parseDuration, parseNumber } from '../numbers.ts'
import type { Bucket, GroupField, Pipe, StatsEntry, StatsFunction } from '../query.ts'
import { conditionOf, countOf, fieldOrPrefix, namesInParentheses } from './field-names.ts'
import type { Tokens } from './tokenizer.ts'
import { type FilterContext, messageField } from './values.ts'

const functions = ['count', 'count_uniq', 'sum', 'avg', 'min', 'max', 'quantile', 'median', 'histogram']

export function isStatsFunction(name: string): boolean {
  return functions.includes(name)
}

/** Parses the arguments of `stats`. @throws Status 400 */
export function parseStats(context: FilterContext): Pipe {
  const { tokens } = context
  const by = tokens.take('by') || tokens.is('(') ? parseGroups(tokens) : []
  const entries: StatsEntry[] = []
  do {
    context.limits.countTerm(tokens)
    entries.push(parseEntry(context))
  } while (tokens.take(','))
  const names = [...by.map(({ field }) => field), ...entries.map(({ result }) => result)]
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw tokens.error(`stats has two results named ${JSON.stringify(twice)}`)
  return { kind: 'stats', by, entries }
}

function parseGroups(tokens: Tokens): readonly GroupField[] {
  const groups: GroupField[] = []
  tokens.expect('(')
  while (!tokens.take(')')) {
    const field = tokens.name([':']) || messageField
    groups.push(tokens.take(':') ? { field, bucket: parseBucket(tokens) } : { field })
    if (!tokens.is(')')) tokens.expect(',')
  }
  return groups
}

function parseBucket(tokens: Tokens): Bucket {
  const { current } = tokens
  const bucket = bucketOf(tokens.text('the size of a bucket'))
  if (bucket === undefined) throw tokens.error(`invalid bucket size ${JSON.stringify(current.raw)}`)
  if (!tokens.take('offset')) return bucket
  const text = tokens.text('an offset')
  const offset = parseNumber(text)
  if (offset === undefined || Math.abs(offset) > maxSize)
    throw tokens.error(`invalid offset ${JSON.stringify(text)} before this`)
  return { ...bucket, offset }
}

const units: Readonly<Record<string, number>> = {
  nanosecond: 1,
  microsecond: 1e3,
  millisecond: 1e6,
  second: 1e9,
  minute: 60e9,
  hour: 3600e9,
  day: 86_400e9,
  week: 7 * 86_400e9,
}

// Maximum size and offset of a bucket: times and integers have 64 bits.
export const maxSize = 2 ** 63

/** Parses the size of a bucket; undefined if it is invalid, not positive or too large. */
export function bucketOf(text: string): Bucket | undefined {
  if (text === 'month' || text === 'year') return { size: 1, offset: 0, unit: text }
  const mask = /^\/(\d{1,2})$/.exec(text)
  if (mask !== null && Number(mask[1]) <= 32) return { size: 2 ** (32 - Number(mask[1])), offset: 0 }
  const size = Object.hasOwn(units, text) ? units[text] : (parseDuration(text) ?? parseNumber(text))
  if (size === undefined || !(size > 0) || size > maxSize) return undefined
  return { size, offset: 0, ...(text === 'week' ? { unit: text } : {}) }
}

function parseEntry(context: FilterContext): StatsEntry {
  const { tokens } = context
  const { text, isQuoted } = tokens.current
  const name = text.toLowerCase()
  if (isQuoted || !isStatsFunction(name)) {
    throw tokens.error(
      `unsupported function of stats ${JSON.stringify(text.slice(0, 100))}; supported: ${functions.join(', ')}`,
    )
  }
  tokens.advance()
  const { made, shown } = parseFunction(tokens, name)
  if (tokens.is('switch')) throw tokens.error('switch is not supported; use if (filter)')
  const { position: start } = tokens
  const condition = conditionOf(context)
  const unnamed = [shown, tokens.textSince(start)].filter(text => text !== '').join(' ')
  const isNamed = tokens.take('as') || !(tokens.isEnd || tokens.is(','))
  const result = isNamed ? tokens.text('the name of a result') || messageField : unnamed
  return { function: made, ...condition, result }
}

/** Parses a function. `shown` is its notation, which names a result without a name in the query. */
function parseFunction(
  tokens: Tokens,
  name: string,
): { readonly made: StatsFunction; readonly shown: string } {
  const names = namesInParentheses(tokens, fieldOrPrefix)
  const fields = names.length === 0 ? ['*'] : names
  const as = (made: StatsFunction, suffix = '') => ({
    made,
    shown: `${name}(${fields.map(quoteName).join(', ')})${suffix}`,
  })
  switch (name) {
    case 'count_uniq': {
      const named = namedOnly(tokens, name, names)
      const limit = tokens.take('limit') ? countOf(tokens) : 0
      return as({ name, fields: named, limit }, limit > 0 ? ` limit ${limit}` : '')
    }
    case 'histogram': {
      const [field, ...more] = namedOnly(tokens, name, names)
      if (field === undefined || more.length > 0) throw tokens.error('histogram() requires one field')
      return as({ name, field })
    }
    case 'median':
      return as({ name: 'quantile', phi: 0.5, fields })
    case 'quantile': {
      const [first = '', ...rest] = names
      const phi = parseNumber(first)
      if (phi === undefined || !(phi >= 0 && phi <= 1))
        throw tokens.error('quantile() requires a number from 0 to 1, and then fields')
      const shown = `${name}(${[first, ...rest.map(quoteName)].join(', ')})`
      return { made: { name, phi, fields: rest.length === 0 ? ['*'] : rest }, shown }
    }
    default:
      if (name === 'count' || name === 'sum' || name === 'avg' || name === 'min' || name === 'max')
        return as({ name, fields })
      throw tokens.error(`unsupported function ${name}`)
  }
}

function namedOnly(tokens: Tokens, name: string, names: readonly string[]): readonly string[] {
  if (names.length === 0 || names.some(field => field.endsWith('*')))
    throw tokens.error(`${name}() requires field names`)
  return names
}

function quoteName(name: string): string {
  return /^(?:[\p{L}\p{Nd}_]+\*?|\*)$/u.test(name) ? name : JSON.stringify(name)
}

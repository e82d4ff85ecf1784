import { parseCount, parseIpv4, parseValue } from '../numbers.ts'
import { allFilters, type Filter, matchAll, type RangeBound, type ValueTest } from '../query.ts'
import { parseStreamFilter } from './stream-filter.ts'
import { parseTimeFilter } from './time-filter.ts'
import type { Tokens } from './tokenizer.ts'
import { checkRegexp, type FilterContext, messageField, parseEnds, parseValues } from './values.ts'

/** Filters of VictoriaLogs that are not supported here. */
const unsupported = [
  'contains_common_case',
  'eq_field',
  'equals_common_case',
  'ipv6_range',
  'json_array_contains_any',
  'le_field',
  'lt_field',
  'pattern_match',
  'pattern_match_full',
  'pattern_match_prefix',
  'pattern_match_suffix',
  'value_type',
]
const supported =
  'words, "phrases", prefix*, *substring*, =exact, ="exact prefix"*, ~"regular expression", <, <=, >, >=, *, contains_all(), contains_any(), i(), in(), ipv4_range(), len_range(), range(), re(), exact(), seq(), string_range(), _time:, _stream:, _stream_id:, {...}, and, or, not'

/** Parses filters. @param field for those that do not name one; undefined before it */
export function parseFilter(context: FilterContext, field?: string): Filter {
  const operands = [parseAnd(context, field)]
  while (context.tokens.take('or')) operands.push(parseAnd(context, field))
  const [first = matchAll] = operands
  return operands.length === 1 ? first : { op: 'or', operands }
}

function parseAnd(context: FilterContext, field: string | undefined): Filter {
  const { tokens } = context
  const operands: Filter[] = []
  for (;;) {
    operands.push(parseOne(context, field))
    if (tokens.take('and')) continue
    if (tokens.isEnd || tokens.is('or')) break
    if (!tokens.current.isSpaced)
      throw tokens.error(`missing space before ${tokens.shown}; put special characters in quotes`)
  }
  return allFilters(operands)
}

function parseOne(context: FilterContext, field: string | undefined): Filter {
  const { tokens, limits } = context
  limits.countTerm(tokens)
  if (tokens.is('')) throw tokens.error('expected a filter, not the end')
  return limits.nested(tokens, () => {
    if (tokens.take('not', '!', '-')) return { op: 'not', operand: parseOne(context, field) }
    if (tokens.is('!=', '!~')) return { op: 'not', operand: parseOperator(context, field) }
    if (tokens.take('(')) {
      const inner = parseFilter(context, field)
      tokens.expect(')')
      return inner
    }
    if (tokens.is('{')) return parseStreamFilter(context)
    if (tokens.is('*')) return parseStar(context, field)
    if (tokens.is('=', '~', '<', '>')) return parseOperator(context, field)
    return parseCall(context, field) ?? parsePhrase(context, field)
  })
}

function test(field: string | undefined, value: ValueTest): Filter {
  return { op: 'field', field: field ?? messageField, test: value }
}

function parseStar(context: FilterContext, field: string | undefined): Filter {
  const { tokens } = context
  tokens.advance()
  if (field === undefined && tokens.take(':')) return parseOne(context, '*')
  if (tokens.current.isSpaced || tokens.isEnd)
    return field === undefined ? matchAll : test(field, { kind: 'prefix', text: '', anyCase: false })
  const text = tokens.text('a text between *')
  if (tokens.current.isSpaced) throw tokens.error('missing * at the end of the text')
  tokens.expect('*')
  return test(field, { kind: 'substring', text })
}

function parseOperator(context: FilterContext, field: string | undefined): Filter {
  const { tokens } = context
  const operator = tokens.advance().text.replace('!', '')
  const isIncluded = (operator === '<' || operator === '>') && !tokens.current.isSpaced && tokens.take('=')
  if (tokens.current.isSpaced && field === undefined)
    throw tokens.error(`missing field and colon before ${operator}`)
  if (operator === '~') return test(field, parseRegexp(context))
  if (operator === '<' || operator === '>') return test(field, parseComparison(context, operator, isIncluded))
  const text = tokens.text(`a value after ${operator}`)
  const isPrefix = !tokens.current.isSpaced && tokens.take('*')
  return test(field, { kind: isPrefix ? 'exactPrefix' : 'exact', text })
}

function parseRegexp(context: FilterContext): ValueTest {
  const { tokens } = context
  if (tokens.is('-')) throw tokens.error('put a regular expression that begins with - in quotes')
  const source = tokens.text('a regular expression')
  return { kind: 'regexp', source: checkRegexp(context, source) }
}

function parseComparison({ tokens }: FilterContext, operator: '<' | '>', isIncluded: boolean): ValueTest {
  const text = tokens.text('a value')
  const value = parseValue(text)
  const isNan = /^nan$/i.test(text)
  if (!Number.isNaN(value) || isNan) {
    const bound = { value, isIncluded }
    const open = (end: number): RangeBound => ({ value: end, isIncluded: true })
    return operator === '>'
      ? { kind: 'range', min: bound, max: open(Infinity) }
      : { kind: 'range', min: open(-Infinity), max: bound }
  }
  // The text after `text` in byte order.
  const after = `${text}\0`
  if (operator === '>') return { kind: 'stringRange', min: isIncluded ? text : after }
  return { kind: 'stringRange', min: '', max: isIncluded ? after : text }
}

/** Parses a filter in function notation; undefined if the name is a word to search. */
function parseCall(context: FilterContext, field: string | undefined): Filter | undefined {
  const { tokens } = context
  const { text, isQuoted, position } = tokens.current
  const name = text.toLowerCase()
  if (isQuoted || !/^[([]$/.test(tokens.next.raw)) return undefined
  if (unsupported.includes(name)) {
    throw tokens.error(`unsupported filter ${name}() from character ${position} on; supported: ${supported}`)
  }
  const values = (kind: 'in' | 'containsAll' | 'containsAny' | 'sequence', mayBeAll = true): Filter => {
    const list = parseValues(tokens, mayBeAll)
    // Each phrase is searched separately, unlike the values of `in`, and counts as a term.
    if (kind !== 'in') for (const _ of list ?? []) context.limits.countTerm(tokens)
    return list === undefined ? matchAll : test(field, { kind, values: list })
  }
  switch (name) {
    case 'in':
      return values('in')
    case 'contains_all':
      return values('containsAll')
    case 'contains_any':
      return values('containsAny')
    case 'seq':
      return values('sequence', false)
    case 'i':
      return parseAnyCase(tokens, field)
    case 'exact':
    case 're': {
      tokens.advance()
      tokens.expect('(')
      const inner = tokens.text('a value')
      const isPrefix = name === 'exact' && !tokens.current.isSpaced && tokens.take('*')
      tokens.expect(')')
      if (name === 're') return test(field, { kind: 'regexp', source: checkRegexp(context, inner) })
      return test(field, { kind: isPrefix ? 'exactPrefix' : 'exact', text: inner })
    }
    case 'range':
      return test(field, parseNumberRange(tokens))
    case 'string_range': {
      const [min = '', max = ''] = parseTwo(tokens, name)
      return test(field, { kind: 'stringRange', min, max })
    }
    case 'len_range':
      return test(field, parseLengthRange(tokens))
    case 'ipv4_range':
      return test(field, parseIpv4Range(tokens))
    default:
      return undefined
  }
}

function parseAnyCase(tokens: Tokens, field: string | undefined): Filter {
  tokens.advance()
  tokens.expect('(')
  const isAny = tokens.take('*')
  const text = isAny ? '' : tokens.text('a word or a phrase')
  const isPrefix = isAny || (!tokens.current.isSpaced && tokens.take('*'))
  tokens.expect(')')
  return test(field, { kind: isPrefix ? 'prefix' : 'phrase', text, anyCase: true })
}

function parseTwo(tokens: Tokens, name: string): readonly string[] {
  const values = parseValues(tokens, false) ?? []
  if (values.length !== 2) throw tokens.error(`${name}() requires two values`)
  return values
}

function parseNumberRange(tokens: Tokens): ValueTest {
  tokens.advance()
  const { start, end, isStartIncluded, isEndIncluded } = parseEnds(tokens, () => {
    const text = tokens.text('a number')
    const value = parseValue(text)
    if (Number.isNaN(value) && !/^nan$/i.test(text))
      throw tokens.error(`invalid number ${JSON.stringify(text)} before this`)
    return value
  })
  const min = { value: start, isIncluded: isStartIncluded }
  return { kind: 'range', min, max: { value: end, isIncluded: isEndIncluded } }
}

function parseLengthRange(tokens: Tokens): ValueTest {
  const [min, max] = parseTwo(tokens, 'len_range').map(text => {
    const value = /^\+?inf$/i.test(text) ? Infinity : parseCount(text)
    if (value === undefined) throw tokens.error(`invalid length ${JSON.stringify(text)} before this`)
    return value
  })
  return { kind: 'lengthRange', min: min ?? 0, max: max ?? 0 }
}

function parseIpv4Range(tokens: Tokens): ValueTest {
  const values = parseValues(tokens, false) ?? []
  const [first = '', second] = values
  const [host = '', bits] = first.split('/')
  const [from, to] = [parseIpv4(host), second === undefined ? undefined : parseIpv4(second)]
  const isOne = values.length === 1 && (bits === undefined || (/^\d{1,2}$/.test(bits) && Number(bits) <= 32))
  if (from === undefined || !(isOne || (values.length === 2 && bits === undefined && to !== undefined))) {
    throw tokens.error('ipv4_range() requires an address, a network (10.0.0.0/8) or two addresses')
  }
  if (to !== undefined) return { kind: 'ipv4Range', min: from, max: to }
  const size = 2 ** (32 - Number(bits ?? 32))
  const min = Math.floor(from / size) * size
  return { kind: 'ipv4Range', min, max: min + size - 1 }
}

function parsePhrase(context: FilterContext, field: string | undefined): Filter {
  const { tokens, nowNs } = context
  const text = tokens.text('a filter', field === undefined ? [':'] : [])
  const isPrefix = !tokens.current.isSpaced && tokens.take('*')
  if (field !== undefined || !tokens.take(':'))
    return test(field, { kind: isPrefix ? 'prefix' : 'phrase', text, anyCase: false })
  if (!isPrefix && text === '_time') return parseTimeFilter(tokens, nowNs)
  if (!isPrefix && text === '_stream' && tokens.is('{')) return parseStreamFilter(context)
  if (!isPrefix && text === '_stream_id' && !tokens.is('in', '*')) {
    return test(text, { kind: 'exact', text: tokens.text('the id of a stream') })
  }
  return parseOne(context, isPrefix ? `${text}*` : text === '' ? messageField : text)
}

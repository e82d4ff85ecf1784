import { badRequest } from '../../../apierrors/status.ts'
import { formatMath, parseMath } from '../math.ts'
import { parsePattern } from '../pattern.ts'
import { checkOptions } from '../pipes/format-pattern.ts'
import type { OverwriteMode, Pipe } from '../query.ts'
import {
  conditionOf,
  countOf,
  fieldOf,
  fieldOrPrefix,
  listOf,
  namesInParentheses,
  uniqueName,
} from './field-names.ts'
import { parseFilter } from './filter.ts'
import { isStatsFunction, parseStats } from './stats.ts'
import { isWord, type Tokens } from './tokenizer.ts'
import { type FilterContext, messageField } from './values.ts'

const maxPipes = 32
const maxPatterns = 50

type Parse = (context: FilterContext) => Pipe

const parsers: Readonly<Record<string, Parse>> = {
  fields: parseFields,
  keep: parseFields,
  sort: parseSort,
  order: parseSort,
  limit: parseLimit,
  head: parseLimit,
  offset: parseOffset,
  skip: parseOffset,
  uniq: parseUniq,
  top: parseTop,
  stats: parseStats,
  filter: parseFilterPipe,
  where: parseFilterPipe,
  extract: parseExtract,
  unpack_json: context => parseUnpack(context, 'json'),
  unpack_logfmt: context => parseUnpack(context, 'logfmt'),
  math: parseMathPipe,
  eval: parseMathPipe,
  format: parseFormat,
  len: parseLen,
  field_names: parseFieldNames,
  patterns: parsePatterns,
}

/** Parses the pipes after the first `|`. @throws Status 400 */
export function parsePipes(context: FilterContext): readonly Pipe[] {
  const { tokens } = context
  const pipes: Pipe[] = []
  while (tokens.take('|')) {
    if (pipes.length === maxPipes) throw tokens.error(`the query has more than ${maxPipes} pipes`)
    pipes.push(parsePipe(context))
    if (!tokens.isEnd) throw tokens.error(`expected | or the end, not ${tokens.shown}`)
  }
  return pipes
}

function parsePipe(context: FilterContext): Pipe {
  const { tokens } = context
  const { text, isQuoted, position } = tokens.current
  const name = text.toLowerCase()
  const parse = !isQuoted && Object.hasOwn(parsers, name) ? parsers[name] : undefined
  if (parse !== undefined) {
    tokens.advance()
    if (!tokens.current.isSpaced && /^[.\-+/$]$/.test(tokens.current.raw))
      throw tokens.error(`missing space after ${name}`)
    return parse(context)
  }
  // The names of the pipes `stats` and `filter` are optional.
  if (tokens.is('by', '(') || (!isQuoted && isStatsFunction(name) && tokens.next.raw === '('))
    return parseStats(context)
  if (isFilter(tokens)) return parseFilterPipe(context)
  throw badRequest(
    `query: unsupported pipe ${JSON.stringify(text.slice(0, 100))} (at character ${position}); supported: ${Object.keys(parsers).join(', ')}`,
  )
}

/** Reports whether a filter follows: it begins with a field, a quote, `not` or punctuation. */
function isFilter(tokens: Tokens): boolean {
  const { current, position: start } = tokens
  if (tokens.isEnd) return false
  if (current.isQuoted || tokens.is('not') || !isWord(current.raw)) return true
  tokens.text('a field', [':'])
  const hasField = tokens.is(':')
  tokens.goTo(start)
  return hasField
}

function overwritingOf(tokens: Tokens): OverwriteMode {
  const keepOriginal = tokens.take('keep_original_fields')
  return { keepOriginal, skipEmpty: !keepOriginal && tokens.take('skip_empty_results') }
}

function parseFields({ tokens }: FilterContext): Pipe {
  return { kind: 'fields', fields: listOf(tokens, fieldOrPrefix) }
}

function parseSort({ tokens }: FilterContext): Pipe {
  if (!tokens.take('by') && !tokens.is('('))
    throw tokens.error('expected by (fields) after sort; sort without fields is not supported')
  const by = parseSortFields(tokens)
  const isReversed = tokens.take('desc')
  if (!isReversed) tokens.take('asc')
  let [offset, limit, rank]: [number, number | undefined, string | undefined] = [0, undefined, undefined]
  let partitionBy: readonly string[] = []
  for (;;) {
    if (tokens.take('offset')) offset = countOf(tokens)
    else if (tokens.take('limit')) limit = countOf(tokens)
    else if (tokens.take('rank')) rank = rankOf(tokens)
    else if (tokens.take('partition')) {
      tokens.take('by')
      partitionBy = namesInParentheses(tokens, fieldOf)
    } else break
  }
  if (partitionBy.length > 0 && !limit) throw tokens.error('sort with partition requires a limit')
  return {
    kind: 'sort',
    by: by.map(({ field, isDescending }) => ({ field, isDescending: isDescending !== isReversed })),
    offset,
    // As in VictoriaLogs, a limit of 0 means no limit.
    ...(limit ? { limit } : {}),
    ...(rank === undefined ? {} : { rank }),
    partitionBy,
  }
}

function parseSortFields(tokens: Tokens): readonly { field: string; isDescending: boolean }[] {
  const by: { field: string; isDescending: boolean }[] = []
  tokens.expect('(')
  while (!tokens.take(')')) {
    const field = fieldOf(tokens)
    const isDescending = tokens.take('desc')
    if (!isDescending) tokens.take('asc')
    by.push({ field, isDescending })
    if (!tokens.is(')')) tokens.expect(',')
  }
  if (by.length === 0) throw tokens.error('sort requires at least one field')
  return by
}

function rankOf(tokens: Tokens): string {
  const isNamed = tokens.take('as')
  return !isNamed && (tokens.isEnd || tokens.is('limit', 'offset', 'partition', 'hits'))
    ? 'rank'
    : fieldOf(tokens)
}

function parseLimit({ tokens }: FilterContext): Pipe {
  return { kind: 'limit', count: tokens.isEnd ? 10 : countOf(tokens) }
}

function parseOffset({ tokens }: FilterContext): Pipe {
  return { kind: 'offset', count: countOf(tokens) }
}

/** Parses fields, with or without `by` and parentheses. */
function byFields(tokens: Tokens, pipe: string): readonly string[] {
  tokens.take('by')
  const fields = tokens.is('(') ? namesInParentheses(tokens, fieldOf) : listOf(tokens, fieldOf)
  if (fields.length === 0) throw tokens.error(`${pipe} requires at least one field`)
  return fields
}

function parseUniq({ tokens }: FilterContext): Pipe {
  const by = byFields(tokens, 'uniq')
  const part = tokens.take('filter') ? tokens.text('a part of values') : ''
  if (part !== '' && by.length > 1) throw tokens.error('uniq with filter requires one field')
  const isWith = tokens.take('with')
  const hasHits = tokens.take('hits')
  if (isWith && !hasHits) throw tokens.error('expected hits after with')
  const limit = tokens.take('limit') ? countOf(tokens) : 0
  return { kind: 'uniq', by, part, limit, ...(hasHits ? { hits: uniqueName('hits', by) } : {}) }
}

function parseTop({ tokens }: FilterContext): Pipe {
  const count = /^\d/.test(tokens.current.text) ? countOf(tokens) : 10
  if (count < 1) throw tokens.error('top requires a number of at least 1')
  const by = byFields(tokens, 'top')
  let [hits, rank]: [string, string | undefined] = ['hits', undefined]
  for (;;) {
    if (tokens.take('hits')) {
      tokens.take('as')
      hits = fieldOf(tokens)
    } else if (tokens.take('rank')) rank = uniqueName(rankOf(tokens), by)
    else break
  }
  return { kind: 'top', count, by, hits: uniqueName(hits, by), ...(rank === undefined ? {} : { rank }) }
}

function parseFilterPipe(context: FilterContext): Pipe {
  return { kind: 'filter', filter: parseFilter(context) }
}

function parseExtract(context: FilterContext): Pipe {
  const { tokens } = context
  const condition = conditionOf(context)
  const { position } = tokens.current
  const steps = parsePattern(tokens.text('a pattern'), position)
  const isUnbounded = steps.some(({ prefix }, i) => i > 0 && prefix === '')
  if (isUnbounded) throw tokens.error('missing text between two fields of the pattern')
  if (steps.every(({ field }) => field === '')) throw tokens.error('the pattern has no <field>')
  const from = tokens.take('from') ? fieldOf(tokens) : messageField
  return { kind: 'extract', ...condition, steps, from, ...overwritingOf(tokens) }
}

const unpackWords = ['fields', 'preserve_keys', 'result_prefix', 'keep_original_fields', 'skip_empty_results']

function parseUnpack(context: FilterContext, format: 'json' | 'logfmt'): Pipe {
  const { tokens } = context
  const condition = conditionOf(context)
  const hasFrom = tokens.take('from') || (!tokens.isEnd && !tokens.is(...unpackWords))
  const from = hasFrom ? fieldOf(tokens) : messageField
  const fields = tokens.take('fields') ? namesInParentheses(tokens, fieldOrPrefix) : []
  const hasKeys = format === 'json' && tokens.take('preserve_keys')
  const preserveKeys = hasKeys ? namesInParentheses(tokens, fieldOf) : []
  const resultPrefix = tokens.take('result_prefix') ? tokens.text('a prefix') : ''
  return {
    ...{ kind: 'unpack', format, ...condition, from },
    fields: fields.length === 0 ? ['*'] : fields,
    preserveKeys,
    resultPrefix,
    ...overwritingOf(tokens),
  }
}

function parseMathPipe({ tokens, limits }: FilterContext): Pipe {
  const entries: Extract<Pipe, { kind: 'math' }>['entries'][number][] = []
  do {
    const expression = parseMath(tokens, limits)
    const isNamed = tokens.take('as') || !(tokens.isEnd || tokens.is(','))
    entries.push({ expression, result: isNamed ? fieldOf(tokens) : formatMath(expression) })
  } while (tokens.take(','))
  return { kind: 'math', entries }
}

function parseFormat(context: FilterContext): Pipe {
  const { tokens } = context
  const condition = conditionOf(context)
  const { position } = tokens.current
  const steps = parsePattern(tokens.text('a pattern'), position)
  checkOptions(steps, position)
  const result = tokens.take('as') ? fieldOf(tokens) : messageField
  return { kind: 'format', ...condition, steps, result, ...overwritingOf(tokens) }
}

function parseLen({ tokens }: FilterContext): Pipe {
  const isOpen = tokens.take('(')
  const field = fieldOf(tokens)
  if (isOpen) tokens.expect(')')
  const isNamed = tokens.take('as') || !tokens.isEnd
  return { kind: 'len', field, result: isNamed ? fieldOf(tokens) : messageField }
}

/** Parses the pipe `patterns`, which VictoriaLogs does not have (see {@link createPatterns}). */
function parsePatterns({ tokens }: FilterContext): Pipe {
  const from = tokens.take('from') ? fieldOf(tokens) : messageField
  const limit = tokens.take('limit') ? countOf(tokens) : maxPatterns
  return { kind: 'patterns', from, limit }
}

function parseFieldNames({ tokens }: FilterContext): Pipe {
  const part = tokens.take('filter') ? tokens.text('a substring of field names') : ''
  const isNamed = tokens.take('as') || !tokens.isEnd
  return { kind: 'fieldNames', result: isNamed ? fieldOf(tokens) : 'name', part }
}

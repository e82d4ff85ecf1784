import { badRequest } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { allOf, anyOf, type Expression, isOneOf, match } from '../filter/expression.ts'
import type { LogFilter } from '../filter/filter.ts'
import { type Interval, parseInterval } from '../histogram-interval.ts'
import { parsePhrases, parseQuery } from '../query-language/parse.ts'
import { textTest } from '../query-language/term-test.ts'
import type { LogQuery, Order } from '../store.ts'
import { readCounts, readPage, readTimes } from './page-parameters.ts'
import { type Parameters, readParameters, type Warn } from './parameters.ts'

/** The requested records, regardless of the permissions of the caller. */
export type RecordSelection = Omit<LogFilter, 'scope'> & {
  readonly namespaces?: readonly string[] | undefined
  /** Substrings of namespace names, case-sensitive; one must match. */
  readonly namespaceParts?: readonly string[] | undefined
}

export type ExportFormat = 'text' | 'jsonl' | 'csv'

export type LogQueryParameters = { readonly where: RecordSelection } & (
  | ({ readonly operation: 'query'; readonly withCursor: boolean } & Pick<
      LogQuery,
      'order' | 'size' | 'start'
    >)
  | { readonly operation: 'follow'; readonly size: number; readonly withCursor: boolean }
  | { readonly operation: 'statistics' }
  | { readonly operation: 'histogram'; readonly interval: Interval }
  | { readonly operation: 'patterns'; readonly size: number }
  | {
      readonly operation: 'export'
      readonly order: Order
      readonly format: ExportFormat
      readonly withTime: boolean
      readonly withPod: boolean
    }
  | ({ readonly operation: 'context' } & ContextRange)
)

/** A record, and the number of records to return before and after it. */
export type ContextRange = {
  readonly cursor: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly before: number
  readonly after: number
}

const maxNeighbours = 1000

const known = [
  'operation',
  'namespaces',
  'namespace_query',
  'workloads',
  'workload_query',
  'pods',
  'pod_query',
  'containers',
  'container_query',
  'log_query',
  'q',
  'start_time',
  'end_time',
  'interval',
  'sort',
  'from',
  'size',
  'cursor',
  'with_cursor',
  'follow',
  'format',
  'with_time',
  'with_pod',
  'before',
  'after',
] as const

/** Parses the parameters of the log API. @throws Status 400 that names parameter and values */
export function parseLogQuery(query: QueryParameters, warn: Warn): LogQueryParameters {
  const parameters = readParameters(query, known, warn)
  const operation = parameters.choice('operation', [
    ...(['query', 'statistics', 'histogram', 'export', 'context', 'patterns'] as const),
  ])
  const where = readWhere(parameters)
  const order = parameters.choice('sort', ['desc', 'asc'])
  const interval = parseInterval(parameters.text('interval') || '15m')
  const isFollowed = parameters.boolean('follow', false)
  if (isFollowed && operation !== 'query') throw badRequest('follow is possible with operation=query only')
  // Validates all parameters, even unused ones: invalid ones must not be ignored silently.
  readCounts(parameters)
  const form = readForm(parameters)
  const neighbours = readNeighbours(parameters)
  const withCursor = parameters.boolean('with_cursor', false)
  if (operation === 'statistics') return { operation, where }
  if (operation === 'histogram') return { operation, where, interval }
  if (operation === 'export') return { operation, where, order, ...form }
  if (operation === 'context') return { operation, where, ...readAround(parameters), ...neighbours }
  const page = readPage(parameters)
  if (operation === 'patterns') return { operation, where, size: page.size }
  if (isFollowed) return { operation: 'follow', where, size: page.size, withCursor }
  return { operation, where, order, withCursor, ...page }
}

function readWhere(parameters: Parameters): RecordSelection {
  return {
    ...readTimes(parameters),
    expression: readExpression(parameters),
    namespaces: parameters.list('namespaces'),
    namespaceParts: parameters.list('namespace_query'),
  }
}

function readExpression({ list, text }: Parameters): Expression | undefined {
  const exactly = (field: 'pod' | 'container', name: string) => {
    const values = list(name)
    return values && isOneOf(field, values)
  }
  const beginning = (field: 'pod' | 'container', name: string) => {
    const phrases = list(name)
    return phrases && anyOf(phrases.map(phrase => match(field, textTest(phrase, true))))
  }
  const workloads = list('workloads')
  return allOf([
    workloads && match('pod', { kind: 'workload', names: workloads }),
    beginning('pod', 'workload_query'),
    exactly('pod', 'pods'),
    beginning('pod', 'pod_query'),
    exactly('container', 'containers'),
    beginning('container', 'container_query'),
    parsePhrases(text('log_query')),
    parseQuery(text('q')),
  ])
}

function readForm({ choice, boolean }: Parameters) {
  const format = choice('format', ['text', 'jsonl', 'csv'])
  // Text contains only the lines; the other formats also include time and origin by default.
  const isTable = format !== 'text'
  return { format, withTime: boolean('with_time', isTable), withPod: boolean('with_pod', isTable) }
}

function readAround({ text, list }: Parameters): Omit<ContextRange, 'before' | 'after'> {
  const one = (name: string) => {
    const [value, ...more] = list(name) ?? ['']
    if (more.length > 0) throw badRequest(`${name} must be one name with operation=context`)
    return value ?? ''
  }
  const cursor = text('cursor')
  if (cursor === '')
    throw badRequest('cursor is required with operation=context; with_cursor=true returns it')
  return {
    cursor,
    namespace: one('namespaces'),
    pod: one('pods'),
    container: one('containers'),
  }
}

function readNeighbours({ integer }: Parameters): Pick<ContextRange, 'before' | 'after'> {
  const rule = { fallback: 10, max: maxNeighbours }
  return { before: integer('before', rule), after: integer('after', rule) }
}

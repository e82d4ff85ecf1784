import { badRequest } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { createLimits, type Limits } from '../../logs/logsql/limits.ts'
import { parseDuration } from '../../logs/logsql/numbers.ts'
import { parseLogsql, parseLogsqlFilter } from '../../logs/logsql/parse/parse.ts'
import { maxSize } from '../../logs/logsql/parse/stats.ts'
import { bucketOfTime } from '../../logs/logsql/pipes/bucket.ts'
import { allFilters, type Bucket, type Filter, type Query } from '../../logs/logsql/query.ts'
import { parseMoment } from '../../logs/logsql/timestamp.ts'
import { maxTimeNs } from '../../logs/record.ts'

/** Parameters that may occur more than once. */
const repeatable = ['field', 'extra_filters', 'extra_stream_filters']

const known = [
  ...[
    'query',
    'start',
    'end',
    'time',
    'limit',
    'offset',
    'step',
    'field',
    'fields_limit',
    'filter',
    'format',
  ],
  ...[
    'ignore_pipes',
    'extra_filters',
    'extra_stream_filters',
    'timeout',
    'max_values_per_field',
    'max_value_len',
  ],
  ...['keep_const_fields', 'start_offset', 'refresh_interval', 'allow_partial_response'],
]

/** Warns about unknown parameters. @param warn receives warnings for the caller */
export function warnOfUnknown(query: QueryParameters, warn: (text: string) => void): void {
  const unknown = [...query].map(([name]) => name).filter(name => !known.includes(name))
  const named = [...new Set(unknown)].slice(0, 3).map(name => JSON.stringify(name.slice(0, 32)))
  if (named.length > 0) warn(`ignored unknown parameters ${named.join(', ')}`)
}

/** The parameters of an endpoint. Invalid values are errors. */
export type LogsqlParameters = {
  readonly text: (name: string) => string
  readonly all: (name: string) => readonly string[]
  /** Returns a whole number; 0 if the parameter is missing. */
  readonly count: (name: string) => number
  readonly flag: (name: string) => boolean
  /** Returns a duration in nanoseconds. */
  readonly duration: (name: string, fallback: string) => bigint
  /** Returns a time in nanoseconds, of a partial time its start; undefined if the parameter is missing. */
  readonly time: (name: string) => bigint | undefined
}

/** @throws Status 400 for a repeated parameter that must be unique */
export function readLogsqlParameters(query: QueryParameters, nowNs: bigint): LogsqlParameters {
  if (query.problem !== undefined) throw badRequest(query.problem)
  const twice = [...query].find(([name]) => !repeatable.includes(name) && query.isRepeated(name))
  if (twice !== undefined) throw badRequest(`${twice[0].slice(0, 100)} is given more than once`)
  const text = (name: string) => query.first(name) ?? ''
  const invalidParameter = (name: string, expected: string) =>
    badRequest(`invalid ${name} ${JSON.stringify(text(name).slice(0, 100))}: expected ${expected}`)
  return {
    text,
    all: name => query.getAll(name).filter(value => value !== ''),
    count(name) {
      const value = text(name)
      if (!/^\d{0,9}$/.test(value)) throw invalidParameter(name, 'a whole number')
      return Number(value)
    },
    flag(name) {
      const value = text(name).toLowerCase()
      if (!['', '0', '1', 'false', 'true'].includes(value)) throw invalidParameter(name, '1 or 0')
      return value === '1' || value === 'true'
    },
    duration(name, fallback) {
      const duration = parseDuration(text(name) || fallback)
      // Clients of Prometheus send seconds without a unit.
      const seconds = /^\d{1,9}(?:\.\d{1,9})?$/.test(text(name)) ? Number(text(name)) * 1e9 : undefined
      const value = duration ?? seconds
      if (value === undefined) throw invalidParameter(name, 'a duration such as 5m or 1h30m')
      if (Math.abs(value) >= maxSize) throw invalidParameter(name, 'a duration of 292 years at most')
      return BigInt(Math.trunc(value))
    },
    time(name) {
      if (text(name) === '') return undefined
      const moment = parseMoment(text(name), nowNs)
      if (moment === undefined)
        throw invalidParameter(name, 'RFC 3339, a Unix timestamp, or a duration before now')
      return moment.startNs
    },
  }
}

export type EndpointParameters = {
  readonly query: Query
  readonly startNs: bigint | undefined
  /** The end of the range in nanoseconds, inclusive. */
  readonly endNs: bigint | undefined
  /** The time of the query in nanoseconds. */
  readonly timeNs: bigint
}

/** Reads start, end, time, query, extra filters and ignore_pipes. @throws Status 400 */
export function readQuery(parameters: LogsqlParameters, nowNs: bigint, bucket?: Bucket): EndpointParameters {
  const { text, time, all, flag } = parameters
  const endNs = before(time('end'))
  const timeNs = time('time') ?? endNs ?? nowNs
  const limits = createLimits()
  const { filter, pipes } = parseLogsql(text('query'), timeNs, limits)
  const extra = [...all('extra_filters'), ...all('extra_stream_filters')].map(filterText =>
    parseExtra(filterText, timeNs, limits),
  )
  const span = align({ startNs: time('start'), endNs }, bucket)
  const filters = allFilters([filter, ...extra, ...toTimeFilter(span)])
  return { query: { filter: filters, pipes: flag('ignore_pipes') ? [] : pipes }, ...span, timeNs }
}

function before(time: bigint | undefined): bigint | undefined {
  return time === undefined ? undefined : time - 1n
}

type Times = { readonly startNs: bigint | undefined; readonly endNs: bigint | undefined }

/** Extends a range to whole buckets. */
function align({ startNs, endNs }: Times, bucket: Bucket | undefined): Times {
  if (bucket === undefined) return { startNs, endNs }
  return {
    startNs: startNs === undefined ? undefined : bucketOfTime(startNs, bucket),
    endNs: endNs === undefined ? undefined : bucketOfTime(endNs, bucket) + BigInt(bucket.size) - 1n,
  }
}

function toTimeFilter({ startNs, endNs }: Times): readonly Filter[] {
  if (startNs === undefined && endNs === undefined) return []
  return [{ op: 'time', startNs: startNs ?? 0n, endNs: endNs ?? maxTimeNs }]
}

/** Parses a filter in LogsQL, or a JSON object of field names and values. */
function parseExtra(text: string, nowNs: bigint, limits: Limits): Filter {
  if (!text.startsWith('{"')) return parseLogsqlFilter(text, nowNs, limits)
  const object = parseObject(text)
  const filters = Object.entries(object).map(([field, filterValue]): Filter => {
    const values: readonly unknown[] = Array.isArray(filterValue) ? filterValue : [filterValue]
    const texts = values.filter(value => typeof value === 'string')
    if (texts.length < values.length) throw invalidExtra()
    return { op: 'field', field, test: { kind: 'in', values: texts } }
  })
  return allFilters(filters)
}

function parseObject(text: string): object {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) return parsed
  } catch {
    // The error is thrown below.
  }
  throw invalidExtra()
}

function invalidExtra(): Error {
  return badRequest(
    'invalid extra_filters: expected LogsQL filters, or a JSON object of field names and values',
  )
}

/** Reads step and offset. @throws Status 400 */
export function readBucket({ duration }: LogsqlParameters): Bucket {
  const size = duration('step', '1d')
  if (size <= 0n) throw badRequest('invalid step: must be greater than 0')
  return { size: Number(size), offset: Number(duration('offset', '0s')) }
}

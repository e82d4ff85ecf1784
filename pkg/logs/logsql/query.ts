import type { MathExpression } from './math.ts'

/** A test of a value; case-sensitive unless stated. Words have letters, digits and `_`. */
export type ValueTest =
  /** The value contains the text between word boundaries; '' matches a missing field. */
  | { readonly kind: 'phrase'; readonly text: string; readonly anyCase: boolean }
  /** Like `phrase`, but the last word may continue. An empty prefix matches any non-empty value. */
  | { readonly kind: 'prefix'; readonly text: string; readonly anyCase: boolean }
  | { readonly kind: 'substring'; readonly text: string }
  | { readonly kind: 'exact'; readonly text: string }
  | { readonly kind: 'exactPrefix'; readonly text: string }
  | { readonly kind: 'regexp'; readonly source: string }
  | { readonly kind: 'in'; readonly values: readonly string[] }
  /** The value contains phrases; every value contains ''. */
  | { readonly kind: 'containsAll' | 'containsAny' | 'sequence'; readonly values: readonly string[] }
  | { readonly kind: 'range'; readonly min: RangeBound; readonly max: RangeBound }
  /** From `min` (inclusive) to `max` (exclusive), in byte order. */
  | { readonly kind: 'stringRange'; readonly min: string; readonly max?: string }
  /** Length in code points, from `min` to `max` inclusive. */
  | { readonly kind: 'lengthRange'; readonly min: number; readonly max: number }
  | { readonly kind: 'ipv4Range'; readonly min: number; readonly max: number }

export type RangeBound = { readonly value: number; readonly isIncluded: boolean }

export type StreamMatcher = {
  readonly label: string
  readonly isNegated: boolean
  readonly test: { readonly values: readonly string[] } | { readonly source: string }
}

export type Filter =
  | { readonly op: 'all' }
  | { readonly op: 'and' | 'or'; readonly operands: readonly Filter[] }
  | { readonly op: 'not'; readonly operand: Filter }
  /** A name that ends with `*` denotes all fields with this prefix, one of which must match. */
  | { readonly op: 'field'; readonly field: string; readonly test: ValueTest }
  /** From `startNs` to `endNs`, both inclusive. */
  | { readonly op: 'time'; readonly startNs: bigint; readonly endNs: bigint }
  /** A time range within each day, in nanoseconds since midnight, both ends inclusive. */
  | { readonly op: 'dayRange'; readonly start: number; readonly end: number; readonly offsetNs: number }
  /** Days of the week (0 is Sunday), both ends inclusive. */
  | { readonly op: 'weekRange'; readonly start: number; readonly end: number; readonly offsetNs: number }
  /** Matches if all matchers of at least one list match. */
  | { readonly op: 'stream'; readonly any: readonly (readonly StreamMatcher[])[] }

export type StatsFunction =
  | { readonly name: 'count' | 'sum' | 'avg' | 'min' | 'max'; readonly fields: readonly string[] }
  | { readonly name: 'count_uniq'; readonly fields: readonly string[]; readonly limit: number }
  | { readonly name: 'quantile'; readonly phi: number; readonly fields: readonly string[] }
  | { readonly name: 'histogram'; readonly field: string }

export type StatsEntry = {
  readonly function: StatsFunction
  readonly condition?: Filter
  readonly result: string
}

/** A field by which rows are grouped. With `bucket`, values are grouped by ranges. */
export type GroupField = { readonly field: string; readonly bucket?: Bucket }
export type Bucket = {
  readonly size: number
  readonly offset: number
  /** Set for calendar units: their length varies, and weeks begin on Monday. */
  readonly unit?: 'week' | 'month' | 'year'
}

/** How to write fields: `keepOriginal` keeps values, `skipEmpty` writes no empty ones. */
export type OverwriteMode = { readonly keepOriginal: boolean; readonly skipEmpty: boolean }

/** A step of a pattern: a literal text, and a field with an option (`uc:name`). */
export type PatternStep = { readonly prefix: string; readonly field: string; readonly option: string }

export type Pipe =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | {
      readonly kind: 'sort'
      readonly by: readonly { readonly field: string; readonly isDescending: boolean }[]
      readonly offset: number
      readonly limit?: number
      readonly rank?: string
      readonly partitionBy: readonly string[]
    }
  | { readonly kind: 'limit' | 'offset'; readonly count: number }
  | {
      readonly kind: 'uniq'
      readonly by: readonly string[]
      /** Text that the values contain, if there is only one field. */
      readonly part: string
      readonly hits?: string
      readonly limit: number
    }
  | {
      readonly kind: 'top'
      readonly count: number
      readonly by: readonly string[]
      readonly hits: string
      readonly rank?: string
    }
  /** The most frequent values of each field. Fields with too many values are omitted. */
  | {
      readonly kind: 'facets'
      readonly limit: number
      readonly maxValues: number
      readonly maxLength: number
      readonly keepsConstant: boolean
    }
  | { readonly kind: 'stats'; readonly by: readonly GroupField[]; readonly entries: readonly StatsEntry[] }
  | { readonly kind: 'filter'; readonly filter: Filter }
  | ({
      readonly kind: 'extract'
      readonly condition?: Filter
      readonly steps: readonly PatternStep[]
      readonly from: string
    } & OverwriteMode)
  | ({
      readonly kind: 'unpack'
      readonly format: 'json' | 'logfmt'
      readonly condition?: Filter
      readonly from: string
      readonly fields: readonly string[]
      readonly preserveKeys: readonly string[]
      readonly resultPrefix: string
    } & OverwriteMode)
  | {
      readonly kind: 'math'
      readonly entries: readonly { readonly result: string; readonly expression: MathExpression }[]
    }
  | ({
      readonly kind: 'format'
      readonly condition?: Filter
      readonly steps: readonly PatternStep[]
      readonly result: string
    } & OverwriteMode)
  | { readonly kind: 'len'; readonly field: string; readonly result: string }
  | { readonly kind: 'patterns'; readonly from: string; readonly limit: number }
  | { readonly kind: 'fieldNames'; readonly result: string; readonly part: string }

/** Pipes that handle each row independently, and thus preserve the order of lines. */
const rowPipes = ['fields', 'filter', 'len', 'math', 'format', 'extract', 'unpack'] as const
export type RowPipe = Extract<Pipe, { readonly kind: (typeof rowPipes)[number] }>

export function isByRow(pipe: Pipe): pipe is RowPipe {
  return rowPipes.some(kind => kind === pipe.kind)
}

export type Query = { readonly filter: Filter; readonly pipes: readonly Pipe[] }

export const matchAll: Filter = { op: 'all' }

/** Returns the conjunction of filters. Omits those that match everything. */
export function allFilters(filters: readonly Filter[]): Filter {
  const operands = filters.flatMap(filter =>
    filter.op === 'all' ? [] : filter.op === 'and' ? filter.operands : [filter],
  )
  const [first] = operands
  if (first === undefined) return matchAll
  return operands.length === 1 ? first : { op: 'and', operands }
}

import type { LogFilter } from './filter/filter.ts'
import type { Bucket, Interval } from './histogram-interval.ts'
import type { Ingested, RawBatch } from './ingest/raw-batch.ts'
import type { Filter, RowPipe } from './logsql/query.ts'
import type { Row } from './logsql/row.ts'
import type { LogRecord } from './record.ts'
import type { Rejection } from './rejection.ts'

/** By time; records with the same time in order of arrival (reversed for `desc`). */
export type Order = 'asc' | 'desc'

/** The limits of one query. */
export type QueryLimits = {
  /** A query that takes longer fails with 504. */
  readonly timeoutMs: number
  /** The caller went away. */
  readonly signal?: AbortSignal
}

/**
 * A record and its cursor: an opaque text with which a query continues after it, and which
 * identifies it permanently.
 */
export type Hit = { readonly record: LogRecord; readonly cursor: string }

export type LogQuery = {
  readonly filter: LogFilter
  readonly order: Order
  readonly size: number
  /** Either the number of records to skip, or the cursor of the record to continue after. */
  readonly start: { readonly from: number } | { readonly after: string }
  /** Whether to count all matching records; without it, total is undefined and a page is cheap. */
  readonly withTotal: boolean
}

/**
 * How much text the records of one page have together, in characters of their lines and fields: a
 * page of ten thousand lines could have gigabytes otherwise.
 */
export const maxPageChars = 16 * 1024 * 1024

export type QueryResult = {
  readonly total: number | undefined
  readonly hits: readonly Hit[]
  /**
   * Whether the page ends before it is full because of `maxPageChars`; it has at least one record.
   */
  readonly isCut: boolean
}

/** The part of a LogsQL query that looks at each line by itself. */
export type RowQuery = Pick<LogQuery, 'filter' | 'order' | 'start'> & {
  /** What rows must pass in addition. */
  readonly test: Filter
  /** Each handles a row by itself (`isByRow`). */
  readonly pipes: readonly RowPipe[]
  /** The fields that are needed of rows; undefined for all. */
  readonly fields: readonly string[] | undefined
  /** A page ends after this many rows. */
  readonly size: number
}

export type RowPage = {
  readonly rows: readonly Row[]
  /** The cursor of the last line that was read; undefined at the end. */
  readonly next?: string
}

export type Statistics = { readonly containers: number; readonly logs: number }

export type Histogram = { readonly total: number; readonly buckets: readonly Bucket[] }

/** Lines that are stored together or not at all. */
export type LogBatch = {
  readonly records: readonly LogRecord[]
  /**
   * A name for the batch, from its source or a digest of its bytes; without one, a retry is
   * detected by record IDs.
   */
  readonly id?: string
  /**
   * A name for each record, if the source has one. A store with several writers stores a name once;
   * the embedded store has a single writer, which knows its records.
   */
  readonly ids?: readonly string[]
}

export type AppendResult = {
  /**
   * The same batch was stored before (a retry whose response was lost): nothing was stored again.
   */
  readonly duplicate: boolean
  /** Lines that cannot be stored, by their index in the batch; the others are. */
  readonly rejected: readonly Rejection[]
}

/**
 * A log store. All methods reject with a Status: 400 invalid cursor, 429 too many requests, 503 not
 * responding, 504 timeout, 507 no space. Totals are exact.
 */
export type LogStore = {
  /** Resolves when the lines are durable, and not before; they are found within a second. */
  append(batch: LogBatch): Promise<AppendResult>
  /**
   * Like append, for a batch in the format of its sender; 400 and 413 if it is invalid, and then
   * nothing is stored.
   */
  ingest(batch: RawBatch): Promise<Ingested>
  query(query: LogQuery, limits: QueryLimits): Promise<QueryResult>
  /** A store that can looks at lines where it reads them, and hands out only the rows. */
  rows?(query: RowQuery, limits: QueryLimits): Promise<RowPage>
  statistics(filter: LogFilter, limits: QueryLimits): Promise<Statistics>
  histogram(filter: LogFilter, interval: Interval, limits: QueryLimits): Promise<Histogram>
  /** Emits matching lines that arrive from now on, in order of arrival, until the signal. */
  follow(filter: LogFilter, signal: AbortSignal): AsyncIterable<readonly Hit[]>
  /** Whether it can answer; the reason when not. */
  check(): Promise<string | undefined>
  close(): Promise<void>
}

import type { LogFilter } from './filter/filter.ts'
import type { Bucket, Interval } from './histogram-interval.ts'
import type { IngestResult, RawBatch } from './ingest/raw-batch.ts'
import type { Filter, RowPipe } from './logsql/query.ts'
import type { Row } from './logsql/row.ts'
import type { LogRecord, Origin } from './record.ts'
import type { Rejection } from './rejection.ts'

/** Sort order by time. Records with the same time are in order of arrival (reversed for `desc`). */
export type Order = 'asc' | 'desc'

export type QueryLimits = {
  /** A query that takes longer fails with 504. */
  readonly timeoutMs: number
  /** Aborts when the client has disconnected. */
  readonly signal?: AbortSignal
}

/** A record and its cursor: an opaque string after which a query continues. */
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
 * Maximum total length of the lines and fields on a page, in characters. Otherwise a page of ten
 * thousand lines could have gigabytes.
 */
export const maxPageChars = 16 * 1024 * 1024

export type QueryResult = {
  readonly total: number | undefined
  readonly hits: readonly Hit[]
  /** Whether `maxPageChars` cut the page short. Even then it has at least one record. */
  readonly isCut: boolean
}

/** The part of a LogsQL query that handles each line independently of others. */
export type RowQuery = Pick<LogQuery, 'filter' | 'order' | 'start'> & {
  /** Condition on rows, in addition to `filter`. */
  readonly test: Filter
  /** Pipes that handle each row independently of others (see `isByRow`). */
  readonly pipes: readonly RowPipe[]
  /** Fields that the query needs; undefined for all. */
  readonly fields: readonly string[] | undefined
  /** Maximum number of rows on a page. */
  readonly size: number
}

export type RowPage = {
  readonly rows: readonly Row[]
  /** The cursor of the last line that was read; undefined at the end. */
  readonly next?: string
}

export type Statistics = { readonly containers: number; readonly logs: number }

/** The number of lines of an origin. */
export type OriginCount = { readonly origin: Origin; readonly lines: number }

export type Histogram = { readonly total: number; readonly buckets: readonly Bucket[] }

/** Lines that are stored together or not at all. */
export type LogBatch = {
  readonly records: readonly LogRecord[]
  /**
   * Name of the batch, by which a retry is detected: from its sender, or a digest of its bytes.
   * Defaults to a digest of the records.
   */
  readonly id?: string
  /**
   * A name for each record, if the source has one. A store with several writers stores each name
   * once. The embedded store ignores the names: it has only one writer.
   */
  readonly ids?: readonly string[]
}

export type AppendResult = {
  /** The same batch was stored before; nothing was stored again. */
  readonly duplicate: boolean
  /** Lines that were not stored, by their index in the batch. All others were stored. */
  readonly rejected: readonly Rejection[]
}

/**
 * A log store. All methods reject with a Status: 400 invalid cursor, 429 too many requests, 503 not
 * responding, 504 timeout, 507 no space. Totals are exact.
 */
export type LogStore = {
  /** Resolves when the lines are durable. Queries find them within a second. */
  append(batch: LogBatch): Promise<AppendResult>
  /** Like append, for a batch in its sender's format; all or nothing, with 400 or 413. */
  ingest(batch: RawBatch): Promise<IngestResult>
  query(query: LogQuery, limits: QueryLimits): Promise<QueryResult>
  /** Evaluates a RowQuery inside the store, which then returns rows instead of lines. Optional. */
  rows?(query: RowQuery, limits: QueryLimits): Promise<RowPage>
  /** Counts lines by their origin. Optional, for stores in which it is faster than reading lines. */
  origins?(filter: LogFilter, limits: QueryLimits): Promise<readonly OriginCount[]>
  statistics(filter: LogFilter, limits: QueryLimits): Promise<Statistics>
  histogram(filter: LogFilter, interval: Interval, limits: QueryLimits): Promise<Histogram>
  /** Yields matching lines from now on, in order of arrival, until the signal aborts. */
  follow(filter: LogFilter, signal: AbortSignal): AsyncIterable<readonly Hit[]>
  /** Returns undefined if the store is available, otherwise the reason. */
  check(): Promise<string | undefined>
  close(): Promise<void>
}

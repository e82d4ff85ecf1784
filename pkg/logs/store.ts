import type { LogFilter } from './filter.ts'
import type { Ingested, RawBatch } from './ingest/raw-batch.ts'
import type { Bucket, Interval } from './interval.ts'
import type { LogRecord } from './record.ts'

/** By time; records of one moment in the order in which they arrived (`desc`: the other way round throughout). */
export type Order = 'asc' | 'desc'

/** What one question may cost. */
export type QueryLimits = {
  /** After this long the question is given up with 504. */
  readonly timeoutMs: number
  /** The caller went away. */
  readonly signal?: AbortSignal
}

/** A record and where it stands: an opaque text by which a query goes on after it, and which names it for good. */
export type Hit = { readonly record: LogRecord; readonly cursor: string }

export type LogQuery = {
  readonly filter: LogFilter
  readonly order: Order
  readonly size: number
  /** Either how many to pass over, or the cursor of the record after which to go on, in the order asked for. */
  readonly start: { readonly from: number } | { readonly after: string }
  /** Count all that match the filter, wherever the page starts; without, total is undefined and a page is cheap. */
  readonly withTotal: boolean
}

/**
 * How much text the records of one page have together, in characters of their lines and fields: a page of ten thousand lines
 * could have gigabytes otherwise.
 */
export const maxPageChars = 16 * 1024 * 1024

export type QueryResult = {
  readonly total: number | undefined
  readonly hits: readonly Hit[]
  /** The page ends before it is full, since its records have more text than `maxPageChars`; it has one at least. */
  readonly isCut: boolean
}

export type Statistics = { readonly containers: number; readonly logs: number }

export type Histogram = { readonly total: number; readonly buckets: readonly Bucket[] }

/** Lines that are stored together or not at all. */
export type LogBatch = {
  readonly records: readonly LogRecord[]
  /** A name for the batch, of its source or of the bytes that were sent; without, a retry is known by its records. */
  readonly id?: string
  /**
   * A name for each of the records, where their source has one. A store that several programs write to keeps a record of a
   * name once; the embedded one has a single writer, which knows what it has written.
   */
  readonly ids?: readonly string[]
}

export type AppendResult = {
  /** The same batch was stored before (a retry whose answer was lost): nothing was stored again. */
  readonly duplicate: boolean
  /** Lines that cannot be stored, by their index in the batch; the others are. */
  readonly rejected: readonly { readonly index: number; readonly reason: string }[]
}

/**
 * Where logs are kept. All methods reject with a Status: 400 a bad cursor, 429 too much at once, 503 the store does not
 * answer, 504 the time limit, 507 no space. Totals are exact.
 */
export type LogStore = {
  /** Resolves when the lines are durable, and not before; they are found within a second. */
  append(batch: LogBatch): Promise<AppendResult>
  /** The same for a batch as its sender wrote it; 400 and 413 when it cannot be read, and then nothing is stored. */
  ingest(batch: RawBatch): Promise<Ingested>
  query(query: LogQuery, limits: QueryLimits): Promise<QueryResult>
  statistics(filter: LogFilter, limits: QueryLimits): Promise<Statistics>
  histogram(filter: LogFilter, interval: Interval, limits: QueryLimits): Promise<Histogram>
  /** What arrives from now on and passes the filter, until the signal; in the order of arrival. */
  follow(filter: LogFilter, signal: AbortSignal): AsyncIterable<readonly Hit[]>
  /** Whether it can answer; the reason when not. */
  check(): Promise<string | undefined>
  close(): Promise<void>
}

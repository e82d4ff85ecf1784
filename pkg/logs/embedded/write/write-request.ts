import type { RawBatch } from '../../ingest/raw-batch.ts'
import type { LogRecord } from '../../record.ts'
import type { CommittedLines, StoreSettings } from './store-writer.ts'

export type WriterSettings = { readonly stores: Readonly<Record<string, StoreSettings>> }

/** A request to the writer process. Retention and quotas use `nowMs` as the current time. */
export type WriteRequest = { readonly store: string } & (
  | { readonly kind: 'ingest'; readonly batch: RawBatch; readonly nowMs: number }
  | ({ readonly kind: 'append'; readonly nowMs: number } & RecordBatch)
  | { readonly kind: 'tidy'; readonly nowMs: number }
  | { readonly kind: 'setAside'; readonly partition: string; readonly message: string }
)

/** @see LogBatch */
export type RecordBatch = { readonly records: readonly LogRecord[]; readonly name?: string }

/** The response to `ingest` and `append`: the result, and the committed lines. */
export type WriteResponse<Result> = { readonly result: Result; readonly committed: readonly CommittedLines[] }

export type WriterNotice = { readonly store: string; readonly message: string; readonly error?: string }

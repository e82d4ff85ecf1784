import { createHash } from 'node:crypto'
import type { Rejection } from '../rejection.ts'
import type { IngestLimits } from './limits.ts'
import type { Line } from './line/document.ts'
import type { Note, Notes } from './line/line-notes.ts'

/** A batch in the format of its sender, decompressed. */
export type RawBatch = { readonly body: Buffer; readonly limits: IngestLimits } & BatchForm

/**
 * Returns the name of a batch: a digest of its bytes, because the records differ at a retry: lines
 * without a time get the time of arrival. The name of a single document includes its ID.
 */
export function batchName(batch: RawBatch): string {
  const kind = batch.protocol === 'document' ? `document ${batch.index} ${batch.id}` : batch.protocol
  return createHash('sha256').update(`${kind}\n`).update(batch.body).digest('base64')
}

export type BatchForm =
  | {
      readonly protocol: 'bulk'
      readonly index: string
      /** Parts of the response to keep (see `parseFilterPath`). */
      readonly filterPath: string
    }
  /** One document for an index of Elasticsearch. */
  | { readonly protocol: 'document'; readonly index: string; readonly id: string }
  | { readonly protocol: 'jsonlines' }
  | { readonly protocol: 'otlp' | 'loki'; readonly encoding: 'json' | 'protobuf' }

export type Protocol = BatchForm['protocol']

/** Why a line is not stored. `cause` is set if the store rejected the line. */
export type Problem = Pick<Rejection, 'reason' | 'cause'>

export type Problems = ReadonlyMap<number, Problem>

/** Changes of stored lines, by index of the line. */
export type LineChanges = ReadonlyMap<number, Notes>

export type BatchReading = {
  /** Parsed lazily. @throws Status 400 for an invalid batch, 413 for too many lines */
  readonly lines: Iterable<Line>
  /**
   * Returns the response. Must be called after the last line was read and all valid lines are
   * stored.
   *
   * @param isRepeat whether the batch had been stored before, and was not stored again
   */
  readonly respond: (
    problems: Problems,
    changes: LineChanges,
    isRepeat: boolean,
  ) => Iterable<string | Uint8Array>
  /** Returns the error of a response to a protocol without partial success; or undefined. */
  readonly rejection?: (problems: Problems) => string | undefined
}

export type IngestResult = {
  /** Number of stored lines, and of rejected lines. */
  readonly stored: number
  readonly rejected: number
  /** Number of lines that the store rejected, by cause. */
  readonly causes?: Partial<Readonly<Record<'time' | 'quota', number>>>
  /** Number of stored lines that were changed, by kind of change. */
  readonly changed: Partial<Readonly<Record<Note, number>>>
  /** The response body in the format of the protocol. For `bulk` only the fields after `took`. */
  readonly response: Uint8Array
  /** Message of an error response, which replaces `response`. */
  readonly rejection?: string
}

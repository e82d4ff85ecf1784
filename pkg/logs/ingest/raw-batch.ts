import { createHash } from 'node:crypto'
import type { Rejection } from '../rejection.ts'
import type { IngestLimits } from './limits.ts'
import type { Line } from './line/document.ts'
import type { Note, Notes } from './line/line-notes.ts'

/** A batch as its sender wrote it, decompressed. */
export type RawBatch = { readonly body: Buffer; readonly limits: IngestLimits } & BatchForm

/**
 * The name of a batch is a digest of its bytes: lines without a time get another one with each
 * retry.
 */
export function batchName({ protocol, body }: Pick<RawBatch, 'protocol' | 'body'>): string {
  return createHash('sha256').update(`${protocol}\n`).update(body).digest('base64')
}

export type BatchForm =
  | {
      readonly protocol: 'bulk'
      readonly index: string
      /** The parts of the response to keep (see `parseFilterPath`). */
      readonly filterPath: string
    }
  | { readonly protocol: 'jsonlines' }
  | { readonly protocol: 'otlp' | 'loki'; readonly encoding: 'json' | 'protobuf' }

export type Protocol = BatchForm['protocol']

/** Why a line is not stored; the cause if it is the store that has refused it. */
export type Problem = Pick<Rejection, 'reason' | 'cause'>

/** Those of a batch, by index in the batch. */
export type Problems = ReadonlyMap<number, Problem>

/** Changes of stored lines, by position. */
export type Changes = ReadonlyMap<number, Notes>

export type BatchReading = {
  /**
   * Parsed lazily.
   *
   * @throws Status 400 for an invalid batch, 413 for too many lines
   */
  readonly lines: Iterable<Line>
  /**
   * Returns the response after all valid lines are stored. Must be called after the last line was
   * read.
   *
   * @param isRepeat the same batch was stored before, and nothing is stored again
   */
  readonly answer: (problems: Problems, changes: Changes, isRepeat: boolean) => Iterable<string | Uint8Array>
  /** The response for a protocol that rejects a batch if nothing of it can be stored. */
  readonly refusal?: (problems: Problems) => string | undefined
}

/** The result of a batch. */
export type Ingested = {
  /** How many lines are stored, and how many are not. */
  readonly taken: number
  readonly refused: number
  /** The number of lines that the store has refused, by reason. */
  readonly causes?: Partial<Readonly<Record<'time' | 'quota', number>>>
  /** Number of stored lines that were changed, by kind of change. */
  readonly changed: Partial<Readonly<Record<Note, number>>>
  /** The response in the format of the protocol; for `bulk` the fields after `took`. */
  readonly answer: Uint8Array
  /** Instead of the response: nothing was stored, and why. */
  readonly refusal?: string
}

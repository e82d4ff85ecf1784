import { createHash } from 'node:crypto'
import type { Line } from './document.ts'
import type { IngestLimits } from './limits.ts'
import type { Note, Notes } from './notes.ts'

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
      /** What the answer is to keep (see `parseFilterPath`). */
      readonly filterPath: string
    }
  | { readonly protocol: 'jsonlines' }
  | { readonly protocol: 'otlp' | 'loki'; readonly encoding: 'json' | 'protobuf' }

export type Protocol = BatchForm['protocol']

/** Why lines of a batch are not stored, by their place in it, from 0. */
export type Problems = ReadonlyMap<number, string>

/** What was changed of lines that are stored, by their place. */
export type Changes = ReadonlyMap<number, Notes>

export type BatchReading = {
  /**
   * Parsed lazily.
   *
   * @throws Status 400 for an invalid batch, 413 for too many lines
   */
  readonly lines: Iterable<Line>
  /**
   * The response once all lines are stored but those with a problem. Not before the last line was
   * read.
   *
   * @param isRepeat the same batch was stored before, and nothing is stored again
   */
  readonly answer: (problems: Problems, changes: Changes, isRepeat: boolean) => Iterable<string | Uint8Array>
  /** The response for a protocol that rejects a batch if nothing of it can be stored. */
  readonly refusal?: (problems: Problems) => string | undefined
}

/** What became of a batch. */
export type Ingested = {
  /** How many lines are stored, and how many are not. */
  readonly taken: number
  readonly refused: number
  /** How many of those that are stored were changed, by what was changed of them. */
  readonly changed: Partial<Readonly<Record<Note, number>>>
  /** For the sender, as its protocol has it; of `bulk` the members that follow `took`. */
  readonly answer: Uint8Array
  /** In place of the answer: nothing was stored, and why. */
  readonly refusal?: string
}

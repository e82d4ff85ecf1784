import type { Line } from '../../../logs/ingest/document.ts'
import type { IngestLimits } from '../../../logs/ingest/limits.ts'
import type { LogStore } from '../../../logs/store.ts'
import type { Identity } from '../../../request/identity.ts'
import type { Turns } from '../../../request/turns.ts'
import { Status } from '../../../status/status.ts'

export type IngestOptions = {
  readonly store: Pick<LogStore, 'append'>
  readonly limits: IngestLimits
  /** Of all batches together: to read and to answer one takes long. */
  readonly turns: Turns
  /** Whether the caller may send logs. @throws Status 401, 403, 503 */
  readonly authorize: (identity: Identity) => Promise<void> | void
  /** Told of each batch. */
  readonly observe: (protocol: Protocol, lines: { readonly taken: number; readonly refused: number }) => void
}

export type Protocol = 'bulk' | 'jsonlines' | 'otlp'

/** What became of a batch: each of its lines is stored, or has a reason why it is not. */
export type Taken = { readonly taken: number; readonly problems: ReadonlyMap<number, string> }

/** Stores the lines that are some. `problems` is by the place in the list. @throws Status as the store does */
export type TakeLines = (lines: readonly Line[]) => Promise<Taken>

/** What each protocol works with. */
export type IngestMeans = IngestOptions & {
  readonly take: TakeLines
}

/** @throws Status 413 */
export function checkCount(lines: readonly unknown[], { batchLines }: IngestLimits): void {
  if (lines.length <= batchLines) return
  const message = `the batch has ${lines.length} lines, the limit is ${batchLines}`
  throw new Status(413, 'RequestEntityTooLarge', message)
}

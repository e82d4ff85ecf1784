import type { Turns } from '../../request/turns.ts'
import { insufficientStorage, Status, tooManyRequests, unavailable } from '../../status/status.ts'
import type { RawBatch } from '../ingest/raw-batch.ts'
import { release } from '../own-memory.ts'
import type { LogRecord } from '../record.ts'
import type { AppendResult, LogStore } from '../store.ts'
import type { EncodedBatch } from './batch-encoder.ts'
import { createFrameEncoder, type Frame, numberFrame, type UnnumberedFrame } from './frame.ts'
import { createGarbage, type Garbage } from './garbage.ts'
import type { RecentBatches } from './recent-batches.ts'
import { refusalOf } from './storable.ts'

// About half a millisecond.
const turn = 256
// What a body came in, piece by piece.
const mostGarbageBytes = 3 * 1024 * 1024

/** Takes batches to the write-ahead log, each once. */
export function createIngest(parts: {
  readonly recent: RecentBatches
  readonly turns: Turns
  /** Reads a batch in another thread. @throws Status 400, 413, 503 */
  readonly encode: (batch: RawBatch, firstDay: number) => Promise<EncodedBatch>
  readonly write: (frame: Frame) => Promise<void>
  /** Hands out as many sequences as there are lines; the first of them. */
  readonly takeSequences: (count: number) => number
  /** Resolves when there is room for more. @throws Status 429, 503, 507 */
  readonly untilRoom: () => Promise<void>
  readonly firstKeptDay: () => number
}): Pick<LogStore, 'append' | 'ingest'> {
  const { recent, turns, encode, write, takeSequences, untilRoom, firstKeptDay } = parts
  const encoder = createFrameEncoder()
  let garbage: Garbage | undefined
  let encoding: Promise<unknown> = Promise.resolve()
  const inFlight = new Map<string, Promise<void>>()

  /**
   * Goes on to be written at once: batches are in the order of their sequences, and whoever reads on after one misses none.
   *
   * @returns whether it is a new one
   * @throws Status 503, 507
   */
  async function store(frame: UnnumberedFrame): Promise<boolean> {
    const { key } = frame
    if (recent.has(key)) return false
    // The same batch, sent again before the first was answered, is only as good as the first.
    const first = inFlight.get(key)
    if (first === undefined) {
      const writing = write(numberFrame(frame, takeSequences(frame.count))).then(() => recent.add(key))
      inFlight.set(key, writing)
      await writing.finally(() => inFlight.delete(key))
    } else await first
    return first === undefined
  }

  /** One batch at a time, as there is one encoder. */
  function encodeRecords(records: readonly LogRecord[], id?: string): Promise<UnnumberedFrame> {
    const result = encoding.then(async () => {
      encoder.begin()
      for (const [i, record] of records.entries()) {
        if (i % turn === turn - 1) await turns.next()
        encoder.add(record)
      }
      return encoder.finish(id)
    })
    encoding = result.catch(() => undefined)
    return result
  }

  return {
    append: async ({ records, id }) => {
      await untilRoom()
      const { accepted, rejected } = sift(records, firstKeptDay())
      if (accepted.length === 0) return { duplicate: false, rejected }
      const frame = await encodeRecords(accepted, id)
      return { duplicate: !(await store(frame).catch(rethrow)), rejected }
    },
    ingest: async batch => {
      await untilRoom()
      const { frame, ...ingested } = await encode(batch, firstKeptDay())
      if (frame !== undefined) {
        try {
          await store(frame)
        } catch (error) {
          throw toStatus(error)
        } finally {
          release(frame.bytes)
        }
      }
      garbage ??= createGarbage()
      garbage.collectYoungBeyond(mostGarbageBytes)
      return ingested
    },
  }
}

function sift(
  records: readonly LogRecord[],
  firstDay: number,
): { readonly accepted: readonly LogRecord[]; readonly rejected: AppendResult['rejected'] } {
  const accepted: LogRecord[] = []
  const rejected: { index: number; reason: string }[] = []
  for (const [index, record] of records.entries()) {
    const reason = refusalOf(record.timeNs, firstDay)
    if (reason === undefined) accepted.push(record)
    else rejected.push({ index, reason })
  }
  return { accepted, rejected }
}

function rethrow(error: unknown): never {
  throw toStatus(error)
}

/** 507 while the disk is full, 503 for whatever else the disk says. */
function toStatus(error: unknown): Status {
  if (error instanceof Status) return error
  if (isDiskFull(error)) return noSpace(error)
  return unavailable('the log store cannot write', error)
}

export function noSpace(cause: unknown): Status {
  return insufficientStorage('there is no space left for logs; nothing of this batch was stored', cause)
}

/** @param waiting how many bytes wait to be put into segments */
export function tooMuchWaiting(waiting: number): Status {
  return tooManyRequests(`${waiting} bytes of log lines wait to be put in order; send again later`, 1)
}

export function isDiskFull(error: unknown): boolean {
  if (error instanceof Status) return error.code === 507
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EFBIG'
}

import type { Turns } from '../../request/turns.ts'
import { insufficientStorage, Status, tooManyRequests, unavailable } from '../../status/status.ts'
import { type LogRecord, maxTimeNs } from '../record.ts'
import type { AppendResult, LogBatch } from '../store.ts'
import { createFrameEncoder, type Frame } from './frame.ts'
import { dayOf } from './lines.ts'
import type { RecentBatches } from './recent-batches.ts'

export type Ingest = (batch: LogBatch) => Promise<AppendResult>

/** Takes a batch to the write-ahead log, once. */
export function createIngest(parts: {
  readonly recent: RecentBatches
  readonly turns: Turns
  readonly write: (frame: Frame) => Promise<void>
  /** Hands out as many sequences as there are lines; the first of them. */
  readonly takeSequences: (count: number) => number
  /** Resolves when there is room for more. @throws Status 429, 503, 507 */
  readonly untilRoom: () => Promise<void>
  readonly firstKeptDay: () => number
}): Ingest {
  const { recent, turns, write, takeSequences, untilRoom, firstKeptDay } = parts
  const encodeFrame = createFrameEncoder()
  let encoding: Promise<unknown> = Promise.resolve()
  const inFlight = new Map<string, Promise<void>>()

  async function writeOnce(frame: Frame): Promise<boolean> {
    const { key } = frame
    if (recent.has(key)) return false
    // The same batch, sent again before the first was answered, is only as good as the first.
    const first = inFlight.get(key)
    if (first !== undefined) {
      await first
      return false
    }
    const writing = write(frame).then(() => recent.add(key))
    inFlight.set(key, writing)
    try {
      await writing
    } finally {
      inFlight.delete(key)
    }
    return true
  }

  /** Batches go on to be written in the order of their sequences: whoever reads on after one misses none. */
  function store(records: readonly LogRecord[], id: string | undefined): Promise<boolean> {
    const result = encoding.then(async () => {
      const steps = encodeFrame(records, id)
      let step = steps.next()
      for (; !step.done; step = steps.next()) await turns.next()
      return { written: writeOnce(step.value(takeSequences(records.length))) }
    })
    encoding = result.catch(() => undefined)
    return result.then(({ written }) => written)
  }

  return async ({ records, id }) => {
    await untilRoom()
    const { accepted, rejected } = sift(records, firstKeptDay())
    if (accepted.length === 0) return { duplicate: false, rejected }
    try {
      return { duplicate: !(await store(accepted, id)), rejected }
    } catch (error) {
      throw toStatus(error)
    }
  }
}

function sift(
  records: readonly LogRecord[],
  firstDay: number,
): { readonly accepted: readonly LogRecord[]; readonly rejected: AppendResult['rejected'] } {
  const accepted: LogRecord[] = []
  const rejected: { index: number; reason: string }[] = []
  for (const [index, record] of records.entries()) {
    const reason = refusal(record.timeNs, firstDay)
    if (reason === undefined) accepted.push(record)
    else rejected.push({ index, reason })
  }
  return { accepted, rejected }
}

function refusal(timeNs: bigint, firstDay: number): string | undefined {
  if (timeNs < 0n || timeNs > maxTimeNs) return 'the time is not between the years 1970 and 2262'
  if (dayOf(timeNs) >= firstDay) return undefined
  const date = new Date(firstDay * 86_400_000).toISOString().slice(0, 10)
  return `the time is before ${date}, and older lines are not kept`
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

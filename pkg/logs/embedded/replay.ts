import { rm } from 'node:fs/promises'
import type { FreshLines } from './fresh-lines.ts'
import type { Manifest } from './manifest.ts'
import type { RecentBatches } from './recent-batches.ts'
import { listWriteAheadLogs, readWriteAheadLog, writeAheadLogFile } from './write-ahead-log.ts'

/** Brings back what was in the write-ahead logs and not in segments when the store went away. */
export async function replay(
  folder: string,
  manifest: Manifest,
  into: {
    readonly fresh: FreshLines
    readonly recent: RecentBatches
    readonly report: (message: string, error: unknown) => void
  },
): Promise<{ readonly nextSequence: number; readonly nextLog: number }> {
  let { nextSequence, firstLog: nextLog } = manifest
  for (const number of await listWriteAheadLogs(folder)) {
    nextLog = Math.max(nextLog, number + 1)
    if (number < manifest.firstLog) {
      await rm(writeAheadLogFile(folder, number), { force: true })
      continue
    }
    const { frames, tornBytes } = await readWriteAheadLog(folder, number)
    if (tornBytes > 0) {
      into.report(
        `${writeAheadLogFile(folder, number)}: the last ${tornBytes} bytes are not whole`,
        undefined,
      )
    }
    let offset = 0
    for (const frame of frames) {
      into.fresh.add(frame, { log: number, offset })
      offset += frame.bytes.length
      into.recent.add(frame.key)
      nextSequence = Math.max(nextSequence, frame.firstSequence + frame.count)
    }
  }
  return { nextSequence, nextLog }
}

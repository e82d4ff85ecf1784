import { setTimeout as sleep } from 'node:timers/promises'
import { Status } from '../../status/status.ts'
import { crashDay } from './crash-fixtures.ts'
import { createEmbeddedStore } from './embedded-store.ts'
import { dayNs } from './lines.ts'

// A process that may write no file beyond a size: appends until that is refused, and tells what it has then.
// Usage: full-disk-fixtures.ts FOLDER FLUSH_LINES

export type FullDiskReport = {
  readonly acknowledged: number
  readonly code: number
  readonly message: string
  readonly found: number | undefined
  readonly check: string | undefined
}

const linesOfBatch = 100
const [folder, flushLines] = process.argv.slice(2)
if (process.argv[1] === import.meta.filename && folder !== undefined) await fill(folder, Number(flushLines))

async function fill(path: string, lines: number): Promise<void> {
  const store = await createEmbeddedStore({
    folder: path,
    retention: { days: 7, bytes: 1e9 },
    memoryBytes: 64 * 1024 * 1024,
    flushLines: lines,
    now: () => crashDay * 86_400_000,
    report: () => undefined,
  })
  let acknowledged = 0
  for (;;) {
    try {
      await store.append({
        records: Array.from({ length: linesOfBatch }, (_, i) => lineOf(acknowledged + i)),
      })
      acknowledged += linesOfBatch
    } catch (error) {
      if (!(error instanceof Status)) throw error
      // Told to wait: that is not the refusal that is waited for.
      if (error.code === 429) {
        await sleep(20)
        continue
      }
      const filter = { scope: 'everything' as const }
      const query = { filter, order: 'asc' as const, size: 1, start: { from: 0 }, withTotal: true }
      const { total: found } = await store.query(query, { timeoutMs: 20_000 })
      const report = {
        acknowledged,
        code: error.code,
        message: error.message,
        found,
        check: await store.check(),
      }
      process.send?.(report satisfies FullDiskReport, () => process.exit(0))
      return
    }
  }
}

function lineOf(number: number) {
  // Nothing that compresses well: the segment is to meet the limit too.
  const noise = Array.from({ length: 20 }, () => Math.random().toString(36).slice(2)).join(' ')
  return {
    timeNs: BigInt(crashDay) * dayNs + BigInt(number),
    log: `line ${number} ${noise}`,
    namespace: 'ns',
    pod: 'pod',
    container: 'c',
    host: '',
    dockerId: '',
  }
}

import { Status } from '../../apierrors/status.ts'
import { line, openTestStore, testDayNs } from './fixtures.ts'

// Program for the full-disk test: appends until an append fails, then reports what is stored.
// Usage: full-disk-fixtures.ts FOLDER

export type FullDiskReport = {
  readonly acknowledged: number
  readonly code: number
  readonly message: string
  readonly found: number | undefined
  readonly check: string | undefined
}

const linesOfBatch = 100
const [folder] = process.argv.slice(2)
if (process.argv[1] === import.meta.filename && folder !== undefined) await fill(folder)

async function fill(path: string): Promise<void> {
  const store = await openTestStore(path, { report: () => undefined })
  for (let acknowledged = 0; ; acknowledged += linesOfBatch) {
    try {
      const records = Array.from({ length: linesOfBatch }, (_, i) => lineOf(acknowledged + i))
      await store.append({ records })
    } catch (error) {
      if (!(error instanceof Status)) throw error
      const filter = { scope: 'everything' as const }
      const query = { filter, order: 'asc' as const, size: 1, start: { from: 0 }, withTotal: true }
      const { total: found } = await store.query(query, { timeoutMs: 20_000 })
      const { code, message } = error
      const report: FullDiskReport = { acknowledged, code, message, found, check: await store.check() }
      await store.close()
      process.send?.(report, () => process.exit(0))
      return
    }
  }
}

function lineOf(number: number) {
  const noise = Array.from({ length: 20 }, () => Math.random().toString(36).slice(2)).join(' ')
  return line(`line ${number} ${noise}`, { timeNs: testDayNs + BigInt(number) })
}

import { createEmbeddedStore } from './embedded-store.ts'
import { dayNs } from './lines.ts'

// A process to be killed: appends numbered batches of numbered lines and tells each that was acknowledged.
// Usage: crash-fixtures.ts FOLDER FIRST_BATCH

export const crashBatchLines = 20
export const crashDay = 20_000

const [folder, first] = process.argv.slice(2)
if (process.argv[1] === import.meta.filename && folder !== undefined)
  await appendForever(folder, Number(first))

async function appendForever(path: string, firstBatch: number): Promise<void> {
  const store = await createEmbeddedStore({
    folder: path,
    retention: { days: 7, bytes: 1e9 },
    memoryBytes: 128 * 1024 * 1024,
    flushLines: 500,
    now: () => crashDay * 86_400_000,
    report: (message, error) => console.error(message, error),
  })
  for (let batch = firstBatch; ; batch += 1) {
    await store.append({ records: Array.from({ length: crashBatchLines }, (_, i) => lineOf(batch, i)) })
    process.send?.(batch)
  }
}

function lineOf(batch: number, index: number) {
  const number = batch * crashBatchLines + index
  return {
    timeNs: BigInt(crashDay) * dayNs + BigInt(number),
    log: `line ${number}`,
    namespace: 'ns',
    pod: `pod-${number % 7}`,
    container: 'c',
    host: '',
    dockerId: '',
  }
}

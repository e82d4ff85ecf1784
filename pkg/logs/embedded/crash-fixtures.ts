import { openTestStore, testDayNs } from './fixtures.ts'

// Program that the crash test kills. It appends numbered batches of numbered lines and reports each
// acknowledged batch.
// Usage: crash-fixtures.ts FOLDER FIRST_BATCH

export const crashBatchLines = 20

const [folder, first] = process.argv.slice(2)
if (process.argv[1] === import.meta.filename && folder !== undefined)
  await appendForever(folder, Number(first))

async function appendForever(path: string, firstBatch: number): Promise<void> {
  const store = await openTestStore(path)
  for (let batch = firstBatch; ; batch += 1) {
    await store.append({ records: Array.from({ length: crashBatchLines }, (_, i) => lineOf(batch, i)) })
    process.send?.(batch)
  }
}

function lineOf(batch: number, index: number) {
  const number = batch * crashBatchLines + index
  return {
    timeNs: testDayNs + BigInt(number),
    log: `line ${number}`,
    namespace: 'ns',
    pod: `pod-${number % 7}`,
    container: 'c',
    host: '',
    dockerId: '',
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { lockFolder } from './folder-lock.ts'

// A process that takes the lock of a folder, tells so, and keeps it until it is killed.
// Usage: folder-lock-fixtures.ts FOLDER

const [folder] = process.argv.slice(2)
if (process.argv[1] === import.meta.filename && folder !== undefined) {
  lockFolder(folder)
  process.send?.('locked')
  await sleep(2 ** 31 - 1)
}

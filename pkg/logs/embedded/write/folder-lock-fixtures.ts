import { setTimeout as sleep } from 'node:timers/promises'
import { lockFolder } from './folder-lock.ts'

// Program that locks a folder, reports this, and keeps the lock until it is killed.
// Usage: folder-lock-fixtures.ts FOLDER

const [folder] = process.argv.slice(2)
if (process.argv[1] === import.meta.filename && folder !== undefined) {
  lockFolder(folder)
  process.send?.('locked')
  await sleep(2 ** 31 - 1)
}

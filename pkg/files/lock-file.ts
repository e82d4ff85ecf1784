import { DatabaseSync } from 'node:sqlite'

const busy = 5

/**
 * Locks a file against other processes until this process ends. Node.js has no API for file locks,
 * so SQLite takes a kernel lock on an empty file. Such a lock ends with the process. It also works
 * between containers, where process IDs are meaningless.
 *
 * @returns a function that releases the lock; undefined if the file is locked, also by this process
 * @throws Error if the file cannot be locked
 */
export function tryLock(file: string): (() => void) | undefined {
  const database = new DatabaseSync(file)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return undefined
    throw new Error(`failed to lock ${file}`, { cause: error })
  }
  return () => database.close()
}

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export type FolderLock = { readonly release: () => void }

const busy = 5

/**
 * Locks a folder against other processes until this process ends. Node.js has no API for file
 * locks, so SQLite takes a kernel lock on an empty file. Such a lock ends with the process. It also
 * works between containers, where process IDs are meaningless.
 *
 * @throws Error if another process has the lock
 */
export function lockFolder(folder: string): FolderLock {
  const file = join(folder, 'lock')
  const database = new DatabaseSync(file)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) {
      throw new Error(`${folder} is in use by another process: only one can store logs in a folder`)
    }
    throw new Error(`failed to lock ${file}`, { cause: error })
  }
  return { release: () => database.close() }
}

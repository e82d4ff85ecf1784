import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export type FolderLock = { readonly release: () => void }

const busy = 5

/**
 * Locks a folder against other processes as long as this one lives. It is a kernel lock that SQLite
 * takes on an empty file, since Node.js has no API for it: it ends with the process, and also works
 * between containers, where process IDs are meaningless.
 *
 * @throws Error if another process holds it
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

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export type FolderLock = { readonly release: () => void }

const busy = 5

/**
 * Keeps every other process away from a folder for as long as this one lives. The lock is the kernel's, taken by SQLite on an
 * empty file, as Node.js has no call for it: it ends with the process, however that ends, and holds between containers, where
 * process numbers would say nothing.
 *
 * @throws Error when someone has it
 */
export function lockFolder(folder: string): FolderLock {
  const file = join(folder, 'lock')
  const database = new DatabaseSync(file)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) {
      throw new Error(`${folder}: another process keeps its logs in this folder, and only one can at a time`)
    }
    throw new Error(`${file}: cannot be locked`, { cause: error })
  }
  return { release: () => database.close() }
}

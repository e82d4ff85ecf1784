import { join } from 'node:path'
import { tryLock } from '../../../files/lock-file.ts'

export type FolderLock = { readonly release: () => void }

/**
 * Locks a folder against other processes until this process ends.
 *
 * @throws Error if another process has the lock
 */
export function lockFolder(folder: string): FolderLock {
  const release = tryLock(join(folder, 'lock'))
  if (release === undefined)
    throw new Error(`${folder} is in use by another process: only one can store logs in a folder`)
  return { release }
}

import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it. Unlike `mkdir` of node:fs with `recursive`, which tries again without end where a
 * file system answers ENOENT to every mkdir (/proc, automount points), it tries each folder once.
 *
 * @throws Error that names the folder which cannot be made
 */
export function makeFolders(path: string, mode = 0o777): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolders(parent, mode)
  try {
    mkdirSync(path, mode)
  } catch (cause) {
    // Another process may have made it meanwhile.
    if (isFolder(path)) return
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`failed to make the folder ${path}: ${reason}`, { cause })
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

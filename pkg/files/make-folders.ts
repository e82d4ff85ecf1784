import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its parents, trying each once. `mkdir` of node:fs with `recursive` retries
 * endlessly if a file system returns ENOENT for every mkdir (/proc, automount points).
 *
 * @throws Error with the name of the folder that cannot be created
 */
export function makeFolders(path: string, mode = 0o777): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolders(parent, mode)
  try {
    mkdirSync(path, mode)
  } catch (cause) {
    // Another process may have created the folder in the meantime.
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

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { withLock } from '../processes/with-lock.ts'

/**
 * Returns the path of a file or folder in the cache that all checkouts share.
 *
 * @param make creates it under another path if it does not exist
 */
export async function ensureCached(
  name: string,
  say: (line: string) => void,
  make: (path: string) => Promise<void>,
): Promise<string> {
  const path = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kapis', name)
  if (existsSync(path)) return path
  mkdirSync(dirname(path), { recursive: true })
  return withLock(`${path}.lock`, say, async () => {
    if (existsSync(path)) return path
    const draft = `${path}.new`
    // A killed process may have left a part.
    rmSync(draft, { recursive: true, force: true })
    await make(draft)
    renameSync(draft, path)
    return path
  })
}

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify, isAlive } from './process-id.ts'

/**
 * Acquires a lock file for this process. A lock of a dead process is ignored.
 *
 * @returns undefined if this process now owns the lock; otherwise the process ID of the owner,
 * which may be this process
 */
export function tryLock(file: string): number | undefined {
  mkdirSync(dirname(file), { recursive: true })
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      writeFileSync(file, `${process.pid} ${identify(process.pid).stamp}\n`, { flag: 'wx' })
      return undefined
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const [pid = '', stamp = ''] = read(file).trim().split(' ')
    // The owner has created the file, but not written its ID yet.
    if (pid === '' && ageMs(file) < 2000) return 0
    if (isAlive({ pid: Number(pid), stamp })) return Number(pid)
    rmSync(file, { force: true })
  }
  return 0
}

export function unlock(file: string): void {
  const [pid] = read(file).split(' ')
  if (Number(pid) === process.pid) rmSync(file, { force: true })
}

/** Runs the work while holding the lock. Prints a message if it has to wait. */
export async function withLock<T>(
  file: string,
  say: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  let isReported = false
  for (let holder = tryLock(file); holder !== undefined; holder = tryLock(file)) {
    if (!isReported) say(`waiting for process ${holder}, which holds ${file}`)
    isReported = true
    await sleep(500)
  }
  try {
    return await work()
  } finally {
    unlock(file)
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function ageMs(file: string): number {
  return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
}

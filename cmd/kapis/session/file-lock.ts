import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const waitMs = 60_000
// Nobody who is alive holds it for so long: what is under it has a deadline of its own.
const staleMs = 45_000

/**
 * Runs `work` while no other process does, on the word of `<file>.lock`, which is how kubectl guards a kubeconfig too.
 *
 * @throws Error when it cannot be had in time
 */
export async function withFileLock<T>(file: string, work: () => Promise<T> | T): Promise<T> {
  const lock = `${file}.lock`
  mkdirSync(dirname(lock), { recursive: true, mode: 0o700 })
  const deadline = Date.now() + waitMs
  while (!take(lock)) {
    if (ageMs(lock) > staleMs) rmSync(lock, { force: true })
    if (Date.now() > deadline)
      throw new Error(`${lock} is held by another process; remove it if there is none`)
    await sleep(20 + Math.random() * 30)
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function ageMs(lock: string): number {
  try {
    return Date.now() - statSync(lock).mtimeMs
  } catch {
    return 0
  }
}

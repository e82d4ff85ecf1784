import { randomUUID } from 'node:crypto'
import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolders } from '../../../pkg/files/make-folders.ts'
import { hasCode } from './error-code.ts'

const waitMs = 60_000
// The owner renews its lock more often, so the owner of an older lock has died.
const staleMs = 30_000
const renewMs = 5_000

export type LockSettings = {
  readonly signal?: AbortSignal
  /** Called once if another process holds the lock for more than a second. */
  readonly onWait?: (lock: string) => void
  /** Mode of folders that are created. */
  readonly folderMode?: number
}

/**
 * Runs `work` with an exclusive lock file `<file>.lock`, like kubectl for a kubeconfig.
 *
 * @throws Error if the lock cannot be acquired within a minute
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T> | T,
  settings: LockSettings = {},
): Promise<T> {
  const lock = `${file}.lock`
  makeFolders(dirname(lock), settings.folderMode ?? 0o700)
  const id = await acquire(lock, settings)
  const renewal = setInterval(() => renew(lock, id), renewMs)
  renewal.unref()
  try {
    return await work()
  } finally {
    clearInterval(renewal)
    if (idOf(lock) === id) rmSync(lock, { force: true })
  }
}

async function acquire(lock: string, { signal, onWait }: LockSettings): Promise<string> {
  const started = Date.now()
  let isAnnounced = false
  for (;;) {
    const id = take(lock)
    if (id !== undefined) return id
    breakStale(lock)
    const waitedMs = Date.now() - started
    if (waitedMs > waitMs)
      throw new Error(`${lock} is held by another process; remove the file if no other kapis is running`)
    if (waitedMs > 1_000 && !isAnnounced) {
      isAnnounced = true
      onWait?.(lock)
    }
    await sleep(20 + Math.random() * 30, undefined, signal ? { signal } : {})
  }
}

/** @returns the content of the lock, which identifies its owner; undefined if it is taken */
function take(lock: string): string | undefined {
  const id = randomUUID()
  const fd = create(lock)
  if (fd === undefined) return undefined
  try {
    writeFileSync(fd, id)
    return id
  } catch (error) {
    // A full disk must not leave a lock that others wait for.
    rmSync(lock, { force: true })
    throw error
  } finally {
    closeSync(fd)
  }
}

/** @returns undefined if the file exists */
function create(file: string): number | undefined {
  try {
    return openSync(file, 'wx', 0o600)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    const reason = error instanceof Error ? error.message : error
    throw new Error(`failed to create the lock ${file}: ${reason}`, { cause: error })
  }
}

function renew(lock: string, id: string): void {
  if (idOf(lock) !== id) return
  const now = new Date()
  utimesSync(lock, now, now)
}

/**
 * Removes a lock whose process was killed. If several processes try this, only one of them removes
 * it. A lock that was acquired in the meantime is restored.
 */
function breakStale(lock: string): void {
  const modifiedAt = mtimeOf(lock)
  if (modifiedAt === undefined || Date.now() - modifiedAt < staleMs) return
  const taken = `${lock}.${randomUUID()}`
  try {
    renameSync(lock, taken)
    if (mtimeOf(taken) !== modifiedAt) linkSync(taken, lock)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EEXIST')) throw error
  } finally {
    rmSync(taken, { force: true })
  }
}

function mtimeOf(lock: string): number | undefined {
  return statSync(lock, { throwIfNoEntry: false })?.mtimeMs
}

/** Returns the owner of a lock. Locks of kubectl are empty and not readable. */
function idOf(lock: string): string {
  try {
    return readFileSync(lock, 'utf8')
  } catch {
    return ''
  }
}

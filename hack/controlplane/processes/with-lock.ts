import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryLock } from '../../../pkg/files/lock-file.ts'

/** Runs the work while holding the lock of a file. Prints a message if it has to wait. */
export async function withLock<T>(
  file: string,
  say: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true })
  let unlock = tryLock(file)
  if (unlock === undefined) say(`waiting for another process, which holds ${file}`)
  for (; unlock === undefined; unlock = tryLock(file)) await sleep(500)
  try {
    return await work()
  } finally {
    unlock()
  }
}

import { createBoundedCache } from '../../cache/bounded-cache.ts'
import type { LoginRecord } from './login-record.ts'

export type RecordWriter = {
  /** Queues a record; logins never wait for it. */
  readonly add: (record: LoginRecord) => void
  readonly waiting: () => number
}

export type RecordWriterOptions = {
  readonly write: (record: LoginRecord) => Promise<void>
  /** Called for a record that was not written: the queue was full, or the write failed. */
  readonly lost: (error: unknown) => void
  readonly now?: () => number
}

const writers = 2
const maxWaiting = 200
// Scripts may log in many times a second, and not all of these records are needed.
const sameLoginMs = 1_000

/**
 * Writes records of successful logins, a few concurrently. Records that exceed the queue are
 * dropped. The failed login counter writes records of failures.
 */
export function createRecordWriter({ write, lost, now = Date.now }: RecordWriterOptions): RecordWriter {
  const queue: LoginRecord[] = []
  const recent = createBoundedCache<true>({ maxBytes: 1024 * 1024, sizeOf: () => 0, now })
  let running = 0

  function isRepeat({ user, source, type }: LoginRecord): boolean {
    const key = `${type} ${user?.uid} ${source.address}`
    if (recent.get(key)) return true
    recent.set(key, true, sameLoginMs)
    return false
  }

  async function run(): Promise<void> {
    running++
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await write(next).catch(lost)
    running--
  }

  return {
    add(record) {
      if (isRepeat(record)) return
      if (queue.length >= maxWaiting) {
        lost(new Error('too many pending login records'))
        return
      }
      queue.push(record)
      if (running < writers) void run()
    },
    waiting: () => queue.length + running,
  }
}

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/bcrypt'
import { unavailable } from '../../apierrors/status.ts'
import { createConcurrencyLimiter } from '../../scheduling/concurrency-limiter.ts'

export type PasswordHasher = {
  readonly hash: (password: string) => Promise<string>
  /**
   * Verifies a password against a hash. Without a hash (unknown user) it returns false after the
   * same time, so that timing does not reveal which users exist.
   *
   * @param signal aborted when the client disconnects: its check is skipped
   * @throws Status 503 if too many checks wait
   */
  readonly verify: (password: string, stored: string | undefined, signal?: AbortSignal) => Promise<boolean>
  /** Returns the number of running and queued hashes. */
  readonly pending: () => number
}

// The cost that other components of the platform use, also for dummy hashes.
const cost = 10
// bcrypt only uses 72 bytes. Longer input than this limit is rejected before it costs a hash.
const maxPasswordLength = 1024
// At 60 ms per hash on two cores, the last of them waits about seven seconds. A 503 with
// Retry-After is better than waiting longer.
const maxWaiting = 256

/**
 * Verifies dummy hashes so that a hash of low cost takes as long as other hashes, and timing does
 * not reveal which users exist. Each cost doubles the work, so the dummy costs from the hash's own
 * cost up to the target add up to the difference. Higher costs cannot be hidden.
 */
async function fillUp(stored: string): Promise<void> {
  for (let next = Number(stored.slice(4, 6)); next < cost; next++) await hash('x', next)
}

/** Runs bcrypt on the thread pool instead of the event loop, with one hash per core at a time. */
export async function createPasswordHasher(threads = availableParallelism()): Promise<PasswordHasher> {
  const dummyHash = await hash(randomBytes(16).toString('hex'), cost)
  // Hashes share the thread pool with signing and DNS: a burst of logins would block both.
  const queue = createConcurrencyLimiter({
    maxConcurrent: threads,
    maxWaiting,
    rejection: () => unavailable('too many concurrent logins', undefined, 2),
  })
  return {
    hash: password => queue.run(() => hash(password, cost)),
    verify: (password, stored, signal) =>
      queue.run(async () => {
        const usable = password.length > 0 && password.length <= maxPasswordLength
        const isSame = await verify(usable ? password : 'x', stored ?? dummyHash)
        await fillUp(stored ?? dummyHash)
        return isSame && usable && stored !== undefined
      }, signal),
    pending: queue.pending,
  }
}

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/bcrypt'
import { unavailable } from '../../apierrors/status.ts'
import { createConcurrencyLimiter } from '../../scheduling/concurrency-limiter.ts'

export type PasswordHasher = {
  readonly hash: (password: string) => Promise<string>
  /**
   * Verifies a password against a hash. Without a hash (unknown user) it takes as long and returns
   * false, so that timing does not reveal which users exist.
   *
   * @param signal of the waiting client: abandoned checks are skipped
   * @throws Status 503 if too many wait
   */
  readonly verify: (password: string, stored: string | undefined, signal?: AbortSignal) => Promise<boolean>
  /** Hashes in progress and queued. */
  readonly pending: () => number
}

// The cost that other components of the platform use, and the one for unknown names.
const cost = 10
// bcrypt uses only 72 bytes; longer input is rejected before it costs a hash.
const maxPasswordLength = 1024
// At 60 ms per hash on two cores this is about seven seconds of waiting; beyond that a 503 with
// Retry-After is better.
const maxWaiting = 256

/**
 * Pads the verification of low-cost hashes to the cost of dummy hashes, so that timing does not
 * reveal which users exist: each cost doubles the work, so the costs from its own up to the target
 * add up to the difference. Higher costs cannot be hidden.
 */
async function fillUp(stored: string): Promise<void> {
  for (let next = Number(stored.slice(4, 6)); next < cost; next++) await hash('x', next)
}

/**
 * Runs bcrypt on the thread pool, never on the event loop, with as many hashes at a time as there
 * are cores.
 */
export async function createPasswordHasher(threads = availableParallelism()): Promise<PasswordHasher> {
  const dummyHash = await hash(randomBytes(16).toString('hex'), cost)
  // Hashes share the thread pool with token signing and DNS: without a limit, one burst of logins
  // would block everything else.
  const queue = createConcurrencyLimiter({
    atOnce: threads,
    maxWaiting,
    refuse: () => unavailable('too many concurrent logins', undefined, 2),
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

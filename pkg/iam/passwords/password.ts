import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/bcrypt'
import { unavailable } from '../../apierrors/status.ts'
import { createWorkQueue } from '../../scheduling/concurrency-limiter.ts'

export type PasswordHasher = {
  readonly hash: (password: string) => Promise<string>
  /**
   * Whether the password is the one that was hashed. Without a hash (no such user) it takes as long and says no, so that
   * time tells nobody which users there are.
   *
   * @param signal of anyone who waits for the answer: what nobody waits for any more is not worked out
   * @throws Status 503 when too many wait
   */
  readonly verify: (password: string, stored: string | undefined, signal?: AbortSignal) => Promise<boolean>
  /** Hashes under way and waiting. */
  readonly pending: () => number
}

// What the platform's other components write, and what a name that nobody has is made to take.
const cost = 10
// bcrypt reads 72 bytes and no more; what is longer than any password is refused before it costs anything.
const maxPasswordLength = 1024
// At some 60 ms each on two cores this is seven seconds of waiting; beyond that it is better to be told to come back.
const maxWaiting = 256

/**
 * The work that a cheaper hash has saved, or its user would be told from nobody by the time: each cost is twice the one
 * before, so that those from its own on add up to what is missing. A more expensive one cannot be hidden.
 */
async function fillUp(stored: string): Promise<void> {
  for (let next = Number(stored.slice(4, 6)); next < cost; next++) await hash('x', next)
}

/** bcrypt on the threads of the pool, never on the event loop, as many at once as there are cores. */
export async function createPasswordHasher(threads = availableParallelism()): Promise<PasswordHasher> {
  const nobody = await hash(randomBytes(16).toString('hex'), cost)
  // Hashing shares its threads with the signing of tokens and with name resolution: without a limit one burst of logins would
  // hold up everything else.
  const queue = createWorkQueue({
    atOnce: threads,
    maxWaiting,
    refuse: () => unavailable('too many concurrent logins', undefined, 2),
  })
  return {
    hash: password => queue.run(() => hash(password, cost)),
    verify: (password, stored, signal) =>
      queue.run(async () => {
        const usable = password.length > 0 && password.length <= maxPasswordLength
        const isSame = await verify(usable ? password : 'x', stored ?? nobody)
        await fillUp(stored ?? nobody)
        return isSame && usable && stored !== undefined
      }, signal),
    pending: queue.pending,
  }
}

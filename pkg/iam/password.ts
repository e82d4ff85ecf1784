import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/bcrypt'
import { unavailable } from '../status/status.ts'

export type PasswordHasher = {
  readonly hash: (password: string) => Promise<string>
  /**
   * Whether the password is the one that was hashed. Without a hash (no such user) it takes as long and says no, so that
   * time tells nobody which users there are.
   */
  readonly verify: (password: string, stored: string | undefined) => Promise<boolean>
  /** Hashes under way and waiting. */
  readonly pending: () => number
}

const cost = 10
// bcrypt reads 72 bytes and no more; what is longer than any password is refused before it costs anything.
const maxPasswordLength = 1024
// At some 60 ms each on four threads this is a second of waiting; more of them is an attack or an outage.
const maxPending = 64

/** bcrypt on the threads of the pool, never on the event loop; a bounded queue before it. */
export async function createPasswordHasher(): Promise<PasswordHasher> {
  const nobody = await hash(randomBytes(16).toString('hex'), { cost })
  let pending = 0

  async function queued<T>(work: () => Promise<T>): Promise<T> {
    if (pending >= maxPending) throw unavailable('too many logins at once')
    pending++
    try {
      return await work()
    } finally {
      pending--
    }
  }

  return {
    hash: password => queued(() => hash(password, { cost })),
    verify: (password, stored) =>
      queued(async () => {
        const usable = password.length > 0 && password.length <= maxPasswordLength
        const isSame = await verify(usable ? password : 'x', stored ?? nobody)
        return isSame && usable && stored !== undefined
      }),
    pending: () => pending,
  }
}

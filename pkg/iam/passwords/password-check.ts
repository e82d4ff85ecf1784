import { createBoundedCache } from '../../cache/bounded-cache.ts'
import type { FailedLoginCounter, FailureCount } from '../lockout/failed-login-counter.ts'
import { type Attempt, type Lockout, type LockoutKey, secondsUntil } from '../lockout/lockout.ts'
import type { ClientInfo } from '../sessions/client-info.ts'
import type { User } from '../users/user.ts'
import type { PasswordHasher } from './password.ts'

const maxKnownNameBytes = 4 * 1024 * 1024

export type PasswordAttempt = {
  /** User name or e-mail address. */
  readonly login: string
  readonly password: string
  readonly source: ClientInfo
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal
}

export type PasswordVerdict =
  | { readonly outcome: 'right'; readonly user: User }
  | { readonly outcome: 'wrong'; readonly user: User | undefined }
  | { readonly outcome: 'locked'; readonly user: User | undefined; readonly retryAfterSeconds: number }

/** The check of a second factor, for a user whose password was correct. */
export type FactorAttempt = Pick<PasswordAttempt, 'source' | 'signal'> & { readonly user: User }

export type PasswordChecker = {
  /** @throws Status 503 if too many callers wait; the reason of the signal after an abort */
  readonly check: (attempt: PasswordAttempt) => Promise<PasswordVerdict>
  /**
   * Checks a second factor. Failures count for the user and the address like wrong passwords, and
   * lock both.
   *
   * @param verify returns whether the factor is correct
   * @throws the errors of `check` and of `verify`
   */
  readonly checkFactor: (attempt: FactorAttempt, verify: () => Promise<boolean>) => Promise<PasswordVerdict>
  /**
   * Reserves the check of a password that an identity provider performs. Failures count for the
   * name and the address, not for the local user: guessing at the provider must not lock the local
   * password.
   *
   * @throws see Lockout.begin
   */
  readonly begin: (
    attempt: Omit<PasswordAttempt, 'password'> & { readonly provider: string },
  ) => Promise<ForeignAttempt | LockedName>
}

export type LockedName = {
  readonly lockedUntilMs: number
  /** Name of the user of a locked login name, only for the audit log. */
  readonly knownAs: string | undefined
}

/** The check of a password by an identity provider. */
export type ForeignAttempt = {
  readonly passed: () => void
  /**
   * @param user the user of the account, if known
   * @param knownAs name of the account for the audit log
   * @returns the time until which the name is locked, if this failure must not be revealed
   */
  readonly failed: (user: User | undefined, knownAs: string | undefined) => Promise<number | undefined>
}

export type PasswordCheckerOptions = {
  readonly users: { readonly find: (login: string) => User | undefined }
  readonly hasher: PasswordHasher
  /** Returns the password hash; undefined for a user without a password. @throws Status 503 */
  readonly hashOf: (user: User) => Promise<string | undefined>
  readonly lockout: Lockout
  readonly durationSeconds: number
  readonly toKeys: LoginKeys
  readonly maxTries: number
  readonly maxTriesPerAddress: number
  /** Stores a failure and returns the number of failures on all replicas. @throws Status 503 */
  readonly failed: (event: FailedLogin) => Promise<FailureCount>
  /** Counts the failures of a user and from an address. @throws Status 503 */
  readonly counts: Pick<FailedLoginCounter, 'countOf' | 'countFrom'>
  /** Called when a failure has locked keys. */
  readonly locked: (keys: readonly LockoutKey[], event: FailedLogin) => void
}

export type FailedLogin = {
  readonly login: string
  readonly user: User | undefined
  /** The identity provider; '' for a local password. */
  readonly provider: string
  readonly source: ClientInfo
  readonly reason: 'incorrect password' | 'incorrect second factor'
}

export type LoginKeys = {
  readonly user: (user: Pick<User, 'name'>) => LockoutKey
  readonly login: (login: string) => LockoutKey
  readonly address: (address: string) => LockoutKey
}

/**
 * Checks local passwords; no other code may do so. Failures count for the entered name, the
 * address, and the user if it exists; unknown names are locked in the same way. If a user is locked
 * under another name (user name or e-mail address), this name gets "incorrect password" without a
 * check: "locked" would reveal that both names belong to one user.
 *
 * A lock is effective immediately on its own replica, and soon on the others. For a burst over
 * several replicas the shared counter decides, so no more results are revealed than allowed. A
 * correct password does not query the shared counter before the first failure on its replica, which
 * keeps logins cheap. An attacker may therefore get one additional guess per replica.
 */
export function createPasswordChecker(options: PasswordCheckerOptions): PasswordChecker {
  const { users, hasher, hashOf, lockout, toKeys } = options
  const knownNames = createBoundedCache<string>({
    maxBytes: maxKnownNameBytes,
    sizeOf: name => 2 * name.length,
  })

  function compare(
    { login, password, source, signal }: PasswordAttempt,
    user: User | undefined,
    attempts: readonly Attempt[],
  ): Promise<PasswordVerdict> {
    const isOpen = user !== undefined && attempts.length > 1
    const event = { login, user, provider: '', source, reason: 'incorrect password' } as const
    // Unknown users, users without password and wrong passwords get one response, equally late.
    return settle(event, attempts, async () =>
      hasher.verify(password, isOpen ? await hashOf(user) : undefined, signal),
    )
  }

  async function settle(
    event: FailedLogin,
    attempts: readonly Attempt[],
    verify: () => Promise<boolean>,
  ): Promise<PasswordVerdict> {
    const { user, login, source } = event
    let isRight: boolean
    try {
      isRight = await verify()
      isRight &&= user !== undefined && (await mayPass(user, login, source))
    } catch (error) {
      for (const attempt of attempts) attempt.passed()
      throw error
    }
    if (isRight && user !== undefined) {
      for (const attempt of attempts) attempt.passed()
      return { outcome: 'right', user }
    }
    const until = await fail(attempts, event)
    return until === undefined ? { outcome: 'wrong', user } : toLocked(until, user)
  }

  /** Returns the end of a lock in status.state, by an administrator or another replica. */
  function lockedByState(user: User): number | undefined {
    const end = stateLockedUntilMs(user, options.durationSeconds)
    return lockout.lockedUntilMs(toKeys.user(user)) === undefined ? end : undefined
  }

  /**
   * Reports whether a correct password may be revealed. Many users may share an address and fail at
   * any time, so the shared counter is only queried after several failures.
   */
  async function mayPass(user: User, login: string, { address }: ClientInfo): Promise<boolean> {
    const { counts, maxTries, maxTriesPerAddress } = options
    const isSuspect = lockout.hasFailures([toKeys.user(user), toKeys.login(login)])
    if (isSuspect && (await counts.countOf(user)) >= maxTries) return false
    const isCrowded = lockout.isHalfway(toKeys.address(address))
    return !isCrowded || (await counts.countFrom(address)) < maxTriesPerAddress
  }

  /** @returns the time until which the name is locked, if the failure must not be revealed */
  async function fail(attempts: readonly Attempt[], event: FailedLogin): Promise<number | undefined> {
    const locked = attempts.flatMap(attempt => attempt.failed())
    if (locked.length > 0) options.locked(locked, event)
    const { ofName, ofAddress } = await options.failed(event)
    const isLate = ofName > options.maxTries || ofAddress > options.maxTriesPerAddress
    return isLate ? Date.now() + options.durationSeconds * 1000 : undefined
  }

  return {
    async begin({ login, provider, source, signal }) {
      const key = toKeys.login(login)
      const attempt = await lockout.begin([key, toKeys.address(source.address)], signal)
      if (typeof attempt === 'number') return { lockedUntilMs: attempt, knownAs: knownNames.get(key) }
      return {
        passed: attempt.passed,
        failed(user, knownAs) {
          // Remembered, because a locked name is not sent to the provider, which would know it.
          if (knownAs !== undefined) knownNames.set(key, knownAs, 2 * options.durationSeconds * 1000)
          return fail([attempt], { login, user, provider, source, reason: 'incorrect password' })
        },
      }
    },
    async check(attempt) {
      const { login, source, signal } = attempt
      const user = users.find(login)
      if (user !== undefined) forgiveUnlocked(lockout, toKeys, user)
      const first = await lockout.begin([toKeys.login(login), toKeys.address(source.address)], signal)
      if (typeof first === 'number') return toLocked(first, user)
      if (user === undefined) return compare(attempt, user, [first])
      const end = lockedByState(user)
      if (end !== undefined) {
        first.passed()
        return toLocked(end, user)
      }
      const second = await lockout.begin([toKeys.user(user)], signal).catch(error => {
        first.passed()
        throw error
      })
      return compare(attempt, user, typeof second === 'number' ? [first] : [first, second])
    },
    async checkFactor({ user, source, signal }, verify) {
      forgiveUnlocked(lockout, toKeys, user)
      const end = lockedByState(user)
      if (end !== undefined) return toLocked(end, user)
      const keys = [toKeys.user(user), toKeys.login(user.name), toKeys.address(source.address)]
      const attempt = await lockout.begin(keys, signal)
      if (typeof attempt === 'number') return toLocked(attempt, user)
      const event = {
        login: user.name,
        user,
        provider: '',
        source,
        reason: 'incorrect second factor',
      } as const
      return settle(event, [attempt], verify)
    },
  }
}

/** Resets the failures of a user whom an administrator has unlocked. */
function forgiveUnlocked(lockout: Lockout, toKeys: LoginKeys, user: User): void {
  if (user.state !== 'Active' || user.stateSinceMs === 0) return
  const names = user.email === '' ? [user.name] : [user.name, user.email]
  lockout.forgive([toKeys.user(user), ...names.map(toKeys.login)], user.stateSinceMs)
}

/** Returns the time until which status.state locks the user; undefined if it does not. */
export function stateLockedUntilMs(
  user: User,
  durationSeconds: number,
  nowMs = Date.now(),
): number | undefined {
  if (user.state !== 'AuthLimitExceeded') return undefined
  // A state that was set by hand may lack a timestamp; the lock lasts from when it is added.
  const end = (user.stateSinceMs === 0 ? nowMs : user.stateSinceMs) + durationSeconds * 1000
  return nowMs < end ? end : undefined
}

function toLocked(untilMs: number, user: User | undefined): PasswordVerdict {
  return { outcome: 'locked', user, retryAfterSeconds: secondsUntil(untilMs) }
}

import type { Attempt, Lockout, LockoutKey } from './lockout.ts'
import type { PasswordHasher } from './password.ts'
import type { User } from './user.ts'

/** Where a login comes from, as far as the front could find out. */
export type Source = {
  /** Without spoofable parts (see createClientAddress). */
  readonly address: string
  readonly userAgent: string
}

export type PasswordAttempt = {
  /** User name or e-mail address. */
  readonly login: string
  readonly password: string
  readonly source: Source
  /** Of whoever waits for the answer. */
  readonly signal?: AbortSignal
}

export type PasswordVerdict =
  | { readonly outcome: 'right'; readonly user: User }
  | { readonly outcome: 'wrong'; readonly user: User | undefined }
  | { readonly outcome: 'locked'; readonly user: User | undefined; readonly retryAfterSeconds: number }

export type PasswordChecker = {
  /** @throws Status 503 when too many wait; the signal's reason when the caller has gone */
  readonly check: (attempt: PasswordAttempt) => Promise<PasswordVerdict>
  /**
   * Takes a place for a password that somebody else judges. Failures are counted for the name and for the address; whose
   * user it would be is not known.
   *
   * @returns as Lockout.begin
   */
  readonly begin: (attempt: Omit<PasswordAttempt, 'password'>) => Promise<Attempt | number>
}

export type PasswordCheckerOptions = {
  readonly users: { readonly find: (login: string) => User | undefined }
  readonly hasher: PasswordHasher
  readonly lockout: Lockout
  readonly durationSeconds: number
  readonly toKeys: LoginKeys
  readonly failed: (event: FailedLogin) => void
  /** The failure has locked these keys. */
  readonly locked: (keys: readonly LockoutKey[], event: FailedLogin) => void
}

export type FailedLogin = { readonly login: string; readonly user: User | undefined; readonly source: Source }

export type LoginKeys = {
  readonly user: (user: Pick<User, 'name'>) => LockoutKey
  readonly login: (login: string) => LockoutKey
  readonly address: (address: string) => LockoutKey
}

/**
 * The one place where a password is compared. Failures are counted for the name as it was typed, for the address, and for
 * the user, if there is one.
 *
 * A name that nobody has is locked like any other. A user whose other name (user name or e-mail address) was locked is told
 * "wrong" under this one, and nothing is compared: "locked" would say that both names belong to one user who exists.
 */
export function createPasswordChecker(options: PasswordCheckerOptions): PasswordChecker {
  const { users, hasher, lockout, toKeys } = options

  async function compare(
    { login, password, source, signal }: PasswordAttempt,
    user: User | undefined,
    attempts: readonly Attempt[],
  ): Promise<PasswordVerdict> {
    const isOpen = user !== undefined && attempts.length > 1
    let isRight: boolean
    try {
      // One answer, in one time, whether the user is unknown, has no password or gave a wrong one.
      isRight = await hasher.verify(password, isOpen ? user.passwordHash : undefined, signal)
    } catch (error) {
      for (const attempt of attempts) attempt.passed()
      throw error
    }
    if (isRight && user !== undefined) {
      for (const attempt of attempts) attempt.passed()
      return { outcome: 'right', user }
    }
    const locked = attempts.flatMap(attempt => attempt.failed())
    options.failed({ login, user, source })
    if (locked.length > 0) options.locked(locked, { login, user, source })
    return { outcome: 'wrong', user }
  }

  return {
    async begin({ login, source, signal }) {
      const attempt = await lockout.begin([toKeys.login(login), toKeys.address(source.address)], signal)
      if (typeof attempt === 'number') return attempt
      return {
        passed: attempt.passed,
        failed() {
          const failure = { login, user: undefined, source }
          const locked = attempt.failed()
          options.failed(failure)
          if (locked.length > 0) options.locked(locked, failure)
          return locked
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
      const key = toKeys.user(user)
      const end = stateLockedUntilMs(user, options.durationSeconds)
      // Locked by an administrator, or by a replica whose records have yet to come.
      if (end !== undefined && lockout.lockedUntilMs(key) === undefined) {
        first.passed()
        return toLocked(end, user)
      }
      const second = await lockout.begin([key], signal).catch(error => {
        first.passed()
        throw error
      })
      return compare(attempt, user, typeof second === 'number' ? [first] : [first, second])
    },
  }
}

/** An administrator has unlocked the user since: what happened before does not count any more. */
function forgiveUnlocked(lockout: Lockout, toKeys: LoginKeys, user: User): void {
  if (user.state !== 'Active' || user.stateSinceMs === 0) return
  const names = user.email === '' ? [user.name] : [user.name, user.email]
  lockout.forgive([toKeys.user(user), ...names.map(toKeys.login)], user.stateSinceMs)
}

/** Until when the state of a user says that he is locked; undefined when it does not, or that time is over. */
export function stateLockedUntilMs(
  user: User,
  durationSeconds: number,
  nowMs = Date.now(),
): number | undefined {
  if (user.state !== 'AuthLimitExceeded') return undefined
  // Whoever sets the state by hand need not say since when: it is stamped then, and counts from there.
  const end = (user.stateSinceMs === 0 ? nowMs : user.stateSinceMs) + durationSeconds * 1000
  return nowMs < end ? end : undefined
}

function toLocked(untilMs: number, user: User | undefined): PasswordVerdict {
  return { outcome: 'locked', user, retryAfterSeconds: Math.max(1, Math.ceil((untilMs - Date.now()) / 1000)) }
}

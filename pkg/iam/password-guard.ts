import { randomBytes } from 'node:crypto'
import type { AuthenticationConfig } from '../config/authentication.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createLockKeeper } from './lock-keeper.ts'
import { createLockout } from './lockout.ts'
import { createLoginKeys } from './login-keys.ts'
import type { PasswordHasher } from './password.ts'
import { createPasswordChecker, type PasswordChecker } from './password-check.ts'
import type { User } from './user.ts'

export type PasswordGuardOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly authentication: AuthenticationConfig
  readonly users: { readonly find: (login: string) => User | undefined; readonly all: () => Iterable<User> }
  readonly hasher: PasswordHasher
  readonly logger: Logger
}

export type PasswordGuard = PasswordChecker & {
  readonly start: () => Promise<void>
  readonly stop: () => void
  /** To be told of every change of a user: one whom an administrator has unlocked begins anew. */
  readonly changed: (before: User | undefined, after: User | undefined) => void
}

const releaseEveryMs = 5_000

/** Checks passwords, counts those that were wrong, and locks whoever guesses: all that one program needs for it. */
export function createPasswordGuard(options: PasswordGuardOptions): PasswordGuard {
  const { client, groupDomain, authentication, users, hasher, logger } = options
  const {
    authenticateRateLimiterMaxTries: maxTries,
    authenticateRateLimiterMaxTriesPerAddress: maxTriesPerAddress,
    authenticateRateLimiterDurationSeconds: durationSeconds,
  } = authentication
  const secret = randomBytes(32)
  const toKeys = createLoginKeys(() => secret)
  const lockout = createLockout({
    rules: {
      user: { maxTries, durationSeconds },
      address: { maxTries: maxTriesPerAddress, durationSeconds },
    },
  })
  const keeper = createLockKeeper({ client, groupDomain, maxTries, durationSeconds, logger })
  const checker = createPasswordChecker({
    users,
    hasher,
    lockout,
    durationSeconds,
    toKeys,
    failed: () => undefined,
    locked: keeper.lock,
  })
  let timer: NodeJS.Timeout | undefined

  return {
    check: checker.check,
    async start() {
      timer = setInterval(() => {
        keeper.release(users.all()).catch(err => logger.warn({ err }, 'cannot end locks yet'))
      }, releaseEveryMs)
    },
    stop: () => clearInterval(timer),
    changed(before, after) {
      if (before?.state !== 'AuthLimitExceeded' || after?.state !== 'Active') return
      const names = [before.name, before.email].filter(name => name !== '')
      lockout.forgive([toKeys.user(after), ...names.map(toKeys.login)], Date.now())
    },
  }
}

import type { z } from 'zod'
import { boolean, choice, integer, optionalInteger, section, texts } from '../option.ts'

/** Lockout and login history. Defaults are those of the KubeSphere installer. */
export const authentication = section({
  multipleLogin: boolean({
    default: true,
    env: 'KAPIS_MULTIPLE_LOGIN',
    isReloaded: true,
    description:
      'Whether a user may have several logins at the same time. If false, a new login ends the others; personal access tokens stay valid.',
  }),
  secondFactorGroups: texts({
    env: 'KAPIS_SECOND_FACTOR_GROUPS',
    isReloaded: true,
    description:
      'Groups whose users must have a second factor to log in; `system:authenticated` is every user. A user without one sets it up after the password. The password grant and HTTP Basic are rejected for them.',
  }),
  constrainedImpersonation: choice({
    of: ['auto', 'off'],
    default: 'auto',
    description:
      'Constrained impersonation (KEP-5284: the verbs `impersonate:<mode>` and `impersonate-on:<mode>:<verb>`), as in kube-apiserver 1.36 and later. Set it to `off` if the feature gate ConstrainedImpersonation of kube-apiserver is off.',
  }),
  basicForApis: boolean({
    default: false,
    env: 'KAPIS_BASIC_FOR_APIS',
    description:
      'Whether `/kapis`, `/kapi`, `/api` and `/apis` accept user name and password of a local user with HTTP Basic, as ks-apiserver does, for SDKs of KubeSphere. Wrong passwords count and lock like those of logins. Prefer tokens: they expire and can be revoked.',
  }),
  authenticateRateLimiterMaxTries: integer({
    default: 10,
    min: 1,
    max: 1000,
    env: 'KAPIS_AUTHENTICATE_RATE_LIMITER_MAX_TRIES',
    description:
      'Number of wrong passwords within the duration after which a user name is locked, whether or not such a user exists.',
  }),
  authenticateRateLimiterMaxTriesPerAddress: optionalInteger({
    min: 1,
    max: 100_000,
    env: 'KAPIS_AUTHENTICATE_RATE_LIMITER_MAX_TRIES_PER_ADDRESS',
    description:
      'Number of wrong passwords from one source address (IPv6: one /64) within the duration after which the address is locked. Many users can share an address. 100 by default, and at least the number for a user.',
  }),
  authenticateRateLimiterDurationSeconds: integer({
    default: 600,
    min: 1,
    max: 86_400,
    env: 'KAPIS_AUTHENTICATE_RATE_LIMITER_DURATION_SECONDS',
    description: 'Window in which wrong passwords are counted, and duration of a lock, in seconds.',
  }),
  loginHistoryRetentionPeriodSeconds: integer({
    default: 604_800,
    min: 60,
    max: 31_536_000,
    env: 'KAPIS_LOGIN_HISTORY_RETENTION_PERIOD_SECONDS',
    description: 'How long login records are kept, in seconds.',
  }),
  loginHistoryMaximumEntries: optionalInteger({
    min: 1,
    max: 10_000,
    env: 'KAPIS_LOGIN_HISTORY_MAXIMUM_ENTRIES',
    description:
      'Number of login records kept for each user. 100 by default, and at least the number of wrong passwords that lock a user.',
  }),
})
  .transform(({ authenticateRateLimiterMaxTries: maxTries, ...options }) => ({
    ...options,
    authenticateRateLimiterMaxTries: maxTries,
    authenticateRateLimiterMaxTriesPerAddress:
      options.authenticateRateLimiterMaxTriesPerAddress ?? Math.max(100, maxTries),
    loginHistoryMaximumEntries: options.loginHistoryMaximumEntries ?? Math.max(100, maxTries),
  }))
  // Replicas count failures by the login records, so enough records must be kept.
  .refine(options => options.authenticateRateLimiterMaxTries <= options.loginHistoryMaximumEntries, {
    path: ['authenticateRateLimiterMaxTries'],
    error: 'must not be more than authentication.loginHistoryMaximumEntries',
  })

export type AuthenticationConfig = Readonly<z.output<typeof authentication>>

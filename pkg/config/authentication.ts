import { type Fields, integer, seconds } from './fields.ts'

/** How often a login with a password may fail, and what is kept of logins. */
export type AuthenticationConfig = {
  /** Whether a user may have several logins at once; otherwise a new one ends the others. */
  readonly multipleLogin: boolean
  /** So many failures within the duration lock a user (or a name that nobody has) for the same time. */
  readonly authenticateRateLimiterMaxTries: number
  /** The same for a source address, behind which there may be many people. */
  readonly authenticateRateLimiterMaxTriesPerAddress: number
  readonly authenticateRateLimiterDurationSeconds: number
  readonly loginHistoryRetentionPeriodSeconds: number
  /** For each user. */
  readonly loginHistoryMaximumEntries: number
}

/** Defaults are those of the platform's installer, for whom a user who mistypes is no attacker yet. */
export function parseAuthentication(root: Fields): AuthenticationConfig {
  const fields = root.object('authentication', [
    'multipleLogin',
    'authenticateRateLimiterMaxTries',
    'authenticateRateLimiterMaxTriesPerAddress',
    'authenticateRateLimiterDurationSeconds',
    'loginHistoryRetentionPeriodSeconds',
    'loginHistoryMaximumEntries',
  ])
  const maxTries = integer(fields, 'authenticateRateLimiterMaxTries', { default: 10, min: 1, max: 1000 })
  const loginHistoryMaximumEntries = integer(fields, 'loginHistoryMaximumEntries', {
    default: Math.max(100, maxTries),
    min: 1,
    max: 10_000,
  })
  // The failures that lock a user are told to other replicas by the records of them.
  if (maxTries > loginHistoryMaximumEntries) {
    const message = 'must not be more than authentication.loginHistoryMaximumEntries'
    fields.problem('authenticateRateLimiterMaxTries', message)
  }
  return {
    multipleLogin: fields.boolean('multipleLogin', true),
    authenticateRateLimiterMaxTries: maxTries,
    authenticateRateLimiterMaxTriesPerAddress: integer(fields, 'authenticateRateLimiterMaxTriesPerAddress', {
      default: Math.max(100, maxTries),
      min: 1,
      max: 100_000,
    }),
    authenticateRateLimiterDurationSeconds: seconds(fields, 'authenticateRateLimiterDurationSeconds', {
      default: 600,
      min: 1,
      max: 86_400,
    }),
    loginHistoryRetentionPeriodSeconds: seconds(fields, 'loginHistoryRetentionPeriodSeconds', {
      default: 604_800,
      min: 60,
      max: 31_536_000,
    }),
    loginHistoryMaximumEntries,
  }
}

import type { ClientConfig } from '../../config/sections/client.ts'

/** Lifetimes of the tokens of a login, in seconds. */
export type Lifetimes = {
  readonly accessTokenSeconds: number
  /** A login that is not refreshed for this long ends. */
  readonly refreshTokenSeconds: number
  /** However often it is refreshed. */
  readonly loginMaxAgeSeconds: number
}

/**
 * Returns the lifetimes for logins of a client: its own settings, otherwise those of the
 * configuration.
 *
 * @param ageSeconds age of the login, whose maximum age limits all of them; a result of 0 or less
 * means expired
 */
export function lifetimesOf(client: ClientConfig, defaults: Lifetimes, ageSeconds = 0): Lifetimes {
  const left = Math.floor((client.loginMaxAgeSeconds ?? defaults.loginMaxAgeSeconds) - ageSeconds)
  const access = client.accessTokenMaxAgeSeconds ?? defaults.accessTokenSeconds
  const inactivity = client.accessTokenInactivityTimeoutSeconds
  // An access token must not outlive the login, since it could not be revoked then.
  const refresh =
    inactivity === undefined ? Math.max(defaults.refreshTokenSeconds, access) : access + inactivity
  return {
    accessTokenSeconds: Math.min(access, left),
    refreshTokenSeconds: Math.min(refresh, left),
    loginMaxAgeSeconds: left,
  }
}

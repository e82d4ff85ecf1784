import type { ClientConfig } from '../../config/sections/client.ts'

export type Lifetimes = {
  readonly accessTokenSeconds: number
  /** Lifetime of a refresh token: a login ends if it is not refreshed for this long. */
  readonly refreshTokenSeconds: number
  /** Maximum age of a login, regardless of refreshes. */
  readonly loginMaxAgeSeconds: number
}

/**
 * Returns the lifetimes for logins of a client: its own settings, otherwise the defaults.
 *
 * @param ageSeconds the age of the login. It reduces all lifetimes; 0 or less means expired.
 */
export function lifetimesOf(client: ClientConfig, defaults: Lifetimes, ageSeconds = 0): Lifetimes {
  const left = Math.floor((client.loginMaxAgeSeconds ?? defaults.loginMaxAgeSeconds) - ageSeconds)
  const access = client.accessTokenMaxAgeSeconds ?? defaults.accessTokenSeconds
  const inactivity = client.accessTokenInactivityTimeoutSeconds
  // A refresh token lives at least as long as the access token, which could not be revoked after
  // the end of the login.
  const refresh =
    inactivity === undefined ? Math.max(defaults.refreshTokenSeconds, access) : access + inactivity
  return {
    accessTokenSeconds: Math.min(access, left),
    refreshTokenSeconds: Math.min(refresh, left),
    loginMaxAgeSeconds: left,
  }
}

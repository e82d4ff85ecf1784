import type { ClientConfig } from '../../config/sections/client.ts'

/** How long what a login gives is good, in seconds. */
export type Lifetimes = {
  readonly accessTokenSeconds: number
  /** A login that is not refreshed for so long is over. */
  readonly refreshTokenSeconds: number
  /** However often it is refreshed. */
  readonly loginMaxAgeSeconds: number
}

/**
 * The lifetimes of a client's logins: its own, and for what it does not say those of the configuration.
 *
 * @param ageSeconds of the login; nothing outlives what is left of it. 0 or less says that nothing is.
 */
export function lifetimesOf(client: ClientConfig, defaults: Lifetimes, ageSeconds = 0): Lifetimes {
  const left = Math.floor((client.loginMaxAgeSeconds ?? defaults.loginMaxAgeSeconds) - ageSeconds)
  const access = client.accessTokenMaxAgeSeconds ?? defaults.accessTokenSeconds
  const inactivity = client.accessTokenInactivityTimeoutSeconds
  // An access token must not outlive the login: nothing would be left to end it by.
  const refresh =
    inactivity === undefined ? Math.max(defaults.refreshTokenSeconds, access) : access + inactivity
  return {
    accessTokenSeconds: Math.min(access, left),
    refreshTokenSeconds: Math.min(refresh, left),
    loginMaxAgeSeconds: left,
  }
}

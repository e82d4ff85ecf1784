import { toSeconds } from './duration.ts'
import type { Fields } from './kubesphere-configuration.ts'
import { note, put, type Translation } from './translate-keys.ts'

// The default of KubeSphere 3.4, and the limits of Kapis, in seconds.
const theirs = 7_200
const access = { least: 60, most: 86_400 }
const refresh = { most: 31_536_000, default: 14_400 }

/**
 * Translates token lifetimes. In KubeSphere a refresh token is valid for accessTokenMaxAge plus
 * accessTokenInactivityTimeout, in Kapis for `oauth.refreshTokenSeconds`.
 */
export function putLifetimes(options: Fields, path: string, to: Translation): void {
  const maxAge = read(options, 'accessTokenMaxAge', { path, to, target: 'oauth.accessTokenSeconds' })
  const timeout = read(options, 'accessTokenInactivityTimeout', {
    path,
    to,
    target: 'oauth.refreshTokenSeconds',
  })
  const accessSeconds = clamp(maxAge ?? theirs, access.least, access.most)
  if (maxAge !== undefined) {
    put(to, 'oauth.accessTokenSeconds', accessSeconds)
    if (maxAge !== accessSeconds)
      note(
        to,
        `${path}.accessTokenMaxAge`,
        `oauth.accessTokenSeconds is ${accessSeconds}: ${access.least} to ${access.most} are allowed`,
      )
  }
  const sum = Math.min((maxAge ?? theirs) + (timeout ?? theirs), refresh.most)
  // At least the lifetime of access tokens, since Kapis rejects less.
  const refreshSeconds = Math.max(sum, accessSeconds)
  if (refreshSeconds !== refresh.default) put(to, 'oauth.refreshTokenSeconds', refreshSeconds)
}

/** @returns undefined if the value is missing, unlimited, or not a duration */
function read(
  options: Fields,
  key: string,
  { path, to, target }: { readonly path: string; readonly to: Translation; readonly target: string },
): number | undefined {
  if (!Object.hasOwn(options, key)) return undefined
  const amount = toSeconds(options[key])
  if (amount === undefined) note(to, `${path}.${key}`, 'is not a duration; the default is used')
  else if (amount === 0)
    note(to, `${path}.${key}`, `Kapis has no unlimited lifetimes: ${target} keeps its default`)
  return amount === 0 ? undefined : amount
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}

import { toSeconds } from './duration.ts'
import type { Fields } from './kubesphere-configuration.ts'
import { note, put, type Translation } from './translate-keys.ts'

// The default of KubeSphere 3.4, and the limits of Kapis, in seconds.
const kubeSphereSeconds = 7_200
const access = { least: 60, most: 86_400 }
const refresh = { most: 31_536_000, default: 14_400 }

/**
 * Translates token lifetimes. In KubeSphere a refresh token is valid for accessTokenMaxAge plus
 * accessTokenInactivityTimeout, in Kapis for `oauth.refreshTokenSeconds`.
 */
export function putLifetimes(options: Fields, path: string, to: Translation): void {
  const seconds = read(options, 'accessTokenMaxAge', { path, to })
  const timeout = read(options, 'accessTokenInactivityTimeout', { path, to })
  if (seconds === 0)
    note(
      to,
      `${path}.accessTokenMaxAge`,
      'Kapis has no unlimited lifetimes: oauth.accessTokenSeconds keeps its default',
    )
  const maxAge = seconds === 0 ? undefined : seconds
  const accessSeconds = clamp(maxAge ?? kubeSphereSeconds, access.least, access.most)
  if (maxAge !== undefined) {
    put(to, 'oauth.accessTokenSeconds', accessSeconds)
    if (maxAge !== accessSeconds)
      note(
        to,
        `${path}.accessTokenMaxAge`,
        `oauth.accessTokenSeconds is ${accessSeconds}: ${access.least} to ${access.most} are allowed`,
      )
  }
  const sum = (maxAge ?? kubeSphereSeconds) + (timeout ?? kubeSphereSeconds)
  if (sum > refresh.most)
    note(
      to,
      `${path}.accessTokenInactivityTimeout`,
      `oauth.refreshTokenSeconds is ${refresh.most}, the most that is allowed`,
    )
  // At least the lifetime of access tokens, since Kapis rejects less.
  const refreshSeconds = Math.max(Math.min(sum, refresh.most), accessSeconds)
  if (refreshSeconds !== refresh.default) put(to, 'oauth.refreshTokenSeconds', refreshSeconds)
}

/** @returns undefined if the value is missing or not a duration */
function read(
  options: Fields,
  key: string,
  { path, to }: { readonly path: string; readonly to: Translation },
): number | undefined {
  if (!Object.hasOwn(options, key)) return undefined
  const amount = toSeconds(options[key])
  if (amount === undefined) note(to, `${path}.${key}`, 'is not a duration; the default is used')
  return amount
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}

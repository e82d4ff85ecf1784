import { isReservedName } from './reserved-username.ts'

export type ClaimedUser = {
  readonly username: string
  readonly displayName: string
  readonly email: string
  /** Whether an administrator or an identity provider set the e-mail address, not the user. */
  readonly isEmailVerified: boolean
  readonly lang: string
  readonly groups: readonly string[]
}

/**
 * Returns the claims of a user for ID tokens and userinfo (OpenID Connect Core section 5.4). A user
 * without a display name has the user name as `name`, since Dex and others reject a token without.
 *
 * @param shows reports whether the claims of a scope are included; `groups` belongs to `profile`
 */
export function userClaims(
  { username, displayName, email, isEmailVerified, lang, groups }: ClaimedUser,
  shows: (scope: 'profile' | 'email') => boolean,
): Readonly<Record<string, unknown>> {
  return {
    ...(shows('profile')
      ? {
          ...present({ name: displayName || username, locale: lang }),
          preferred_username: username,
          groups: groups.filter(group => !isReservedName(group)),
        }
      : {}),
    ...(shows('email') && email !== '' ? { email, email_verified: isEmailVerified } : {}),
  }
}

/** Returns the claims that are not empty. */
export function present(claims: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== ''))
}

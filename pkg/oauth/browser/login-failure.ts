import type { Status } from '../../apierrors/status.ts'

/** Reports whether the login page can show an error. */
export function isWrongLogin({ reason }: Status): boolean {
  return reason === 'invalid_grant' || reason === 'temporarily_unavailable'
}

/**
 * Returns the message of a failed login for users. It is the same for an unknown user and a wrong
 * password, and a lock does not reveal whether the user exists.
 *
 * @param provider the provider that checked the password; undefined for a local user
 */
export function explainWrongLogin(
  error: Status,
  provider: { readonly displayName: string } | undefined,
): string {
  if (error.code === 429) return explainLock('passwords', Number(error.headers['retry-after'] ?? 60))
  if (error.code >= 500)
    return `${provider?.displayName ?? 'The login'} is not available. Try again in a moment.`
  if (error.message === 'account is not active') return 'This account is not active. Ask an administrator.'
  // The identity provider accepted the password, so the user may see other problems of the account.
  if (provider !== undefined && error.message !== 'incorrect password')
    return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`
  return 'The user name or the password is wrong.'
}

export function explainLock(what: 'passwords' | 'codes' | 'attempts', seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  return `Too many wrong ${what}. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
}

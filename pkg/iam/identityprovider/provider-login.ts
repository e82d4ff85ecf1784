import { Status, tooManyRequests } from '../../apierrors/status.ts'
import { secondsUntil } from '../lockout/lockout.ts'
import type { PasswordChecker } from '../passwords/password-check.ts'
import type { ClientInfo } from '../sessions/client-info.ts'
import type { PasswordProvider } from './external-identity.ts'
import type { AccountLinking, LinkedAccount } from './linking/account-linking.ts'
import { rejectionReason, withRejectedUser } from './linking/login-error.ts'
import type { Provider } from './provider-store.ts'

type Passwords = { readonly passwords: Pick<PasswordChecker, 'begin'> }

export type ProviderLogin = {
  readonly username: string
  readonly password: string
  readonly source: ClientInfo
  readonly signal: AbortSignal
}

/** A provider whose password is entered in a form of Kapis. */
export type PasswordLoginProvider = Pick<Provider, 'config'> & { readonly client: PasswordProvider }

/** Reports whether users enter the password of this provider in a form of Kapis. */
export function takesPasswords(provider: Provider): provider is PasswordLoginProvider {
  return provider.client.kind === 'password'
}

/**
 * Authenticates a user with a password that the provider checks. Failures are counted by name and
 * address, like those of local users: otherwise Kapis would allow password guessing against the
 * directory.
 *
 * @throws Status, see login-error.ts; 429 for a locked name or address
 */
export async function logInWithPassword(
  { findOrCreate, findLinked, passwords }: Pick<AccountLinking, 'findOrCreate' | 'findLinked'> & Passwords,
  { config, client }: PasswordLoginProvider,
  { username, password, source, signal }: ProviderLogin,
): Promise<LinkedAccount> {
  // Names in directories are case-insensitive, and counted separately from names of local users.
  const login = `${config.name} ${username.toLowerCase()}`
  const attempt = await passwords.begin({ login, provider: config.name, source, signal })
  if ('lockedUntilMs' in attempt) {
    const { lockedUntilMs, knownAs } = attempt
    throw knownAs === undefined
      ? toTooMany(lockedUntilMs)
      : withRejectedUser(toTooMany(lockedUntilMs), knownAs)
  }
  let foundUid: string | undefined
  try {
    const identity = await client.authenticate({ username, password }, signal, uid => {
      foundUid = uid
    })
    const admitted = await findOrCreate(config, identity)
    attempt.passed()
    return admitted
  } catch (error) {
    const user = foundUid === undefined ? undefined : findLinked(config, foundUid)
    // Only a known name is logged: another text may be a password in the wrong field.
    const knownAs = foundUid === undefined ? undefined : (user?.name ?? username)
    const named = (rejection: unknown) =>
      knownAs === undefined ? rejection : withRejectedUser(rejection, knownAs)
    if (!isGuess(error)) {
      attempt.passed()
      throw named(error)
    }
    const until = await attempt.failed(user, knownAs)
    throw named(until === undefined ? error : toTooMany(until))
  }
}

function toTooMany(untilMs: number): Status {
  return tooManyRequests('auth rate limit exceeded', secondsUntil(untilMs), new Error('locked'))
}

function isGuess(error: unknown): boolean {
  const reason = error instanceof Status ? rejectionReason(error) : undefined
  return reason === 'wrong_password' || reason === 'unknown_user' || reason === 'ambiguous_user'
}

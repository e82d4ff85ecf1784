import { type OAuthReason, Status } from '../apierrors/status.ts'
import {
  type AccountLinking,
  type LinkedAccount,
  registrationError,
} from '../iam/identityprovider/linking/account-linking.ts'
import { rejectedUser, rejectionReason } from '../iam/identityprovider/linking/login-error.ts'
import {
  logInWithPassword,
  type ProviderLogin,
  takesPasswords,
} from '../iam/identityprovider/provider-login.ts'
import type { Provider } from '../iam/identityprovider/provider-store.ts'
import type { PasswordChecker } from '../iam/passwords/password-check.ts'
import type { User } from '../iam/users/user.ts'
import { assertUserEnabled } from './check-user-state.ts'
import { invalidRequest, oauthError } from './server/error.ts'

/** The identity providers, and the methods that link accounts to users. */
export type ProviderTools = AccountLinking & {
  readonly store: {
    readonly get: (name: string) => Provider | undefined
    readonly all: () => Iterable<Provider>
  }
  /** Called with errors that the administrator of the provider has to fix. */
  readonly failed: (provider: string, error: unknown) => void
}

/**
 * Returns a usable identity provider.
 *
 * @param code 404 if the path contains the name, 400 for a parameter of the token endpoint (RFC
 * 6749 section 5.2)
 * @throws Status if the provider does not exist, is disabled or has an invalid configuration
 */
export function requireProvider({ store }: ProviderTools, name: string, code: 400 | 404 = 404): Provider {
  const provider = store.get(name)
  if (provider === undefined)
    throw oauthError(code, 'invalid_request', 'unknown identity provider', {
      why: 'unknown_provider',
    })
  return provider
}

type LoginTools = { readonly providers: ProviderTools; readonly passwords: Pick<PasswordChecker, 'begin'> }

/**
 * Authenticates user name and password at a provider and returns the linked user. An account
 * without a user is rejected, since programs cannot show a registration page.
 *
 * @throws Status invalid_grant, 429 with Retry-After, 503 if the provider is not responding
 */
export async function logInAtProvider(tools: LoginTools, name: string, login: ProviderLogin): Promise<User> {
  return requireUser(tools.providers, await authenticateAtProvider(tools, name, login))
}

/** Like `logInAtProvider`, but returns an account without a user, to be registered. */
export async function authenticateAtProvider(
  tools: LoginTools,
  name: string,
  login: ProviderLogin,
): Promise<LinkedAccount> {
  const provider = requireProvider(tools.providers, name)
  if (!takesPasswords(provider)) {
    throw invalidRequest('this identity provider does not support passwords: log in with a browser', {
      why: 'provider_takes_no_passwords',
    })
  }
  try {
    const { findOrCreate, findLinked } = tools.providers
    const admitted = await logInWithPassword(
      { findOrCreate, findLinked, passwords: tools.passwords },
      provider,
      login,
    )
    if (admitted.user !== undefined) assertUserEnabled(admitted.user)
    return admitted
  } catch (error) {
    throw toOAuthError(tools.providers, name, error)
  }
}

/** Returns the user of an account. @throws Status invalid_grant for an account without a user */
export function requireUser(tools: ProviderTools, { user, registration }: LinkedAccount): User {
  if (user !== undefined) return user
  throw toOAuthError(tools, registration.config.name, registrationError(registration))
}

/** Converts an error of a login at a provider to an OAuth error with an audit reason. */
export function toOAuthError({ failed }: ProviderTools, provider: string, error: unknown): unknown {
  if (!(error instanceof Status)) return error
  const { code, message, headers, cause } = error
  const user = rejectedUser(error)
  // Errors of Kapis itself, which have nothing to do with the password.
  if (error.reason === 'slow_down') return error
  if (code === 429)
    return oauthError(429, 'invalid_grant', message, { headers, why: 'locked', user, provider })
  const why = rejectionReason(error)
  if (why === undefined) return error
  if (why.startsWith('provider_')) failed(provider, cause)
  const reason: OAuthReason = code === 503 ? 'temporarily_unavailable' : 'invalid_grant'
  return oauthError(code, reason, message, {
    headers,
    why,
    user,
    provider,
    cause: cause instanceof Error ? cause.cause : cause,
  })
}

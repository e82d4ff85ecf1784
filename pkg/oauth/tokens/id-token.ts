import type { ClientConfig } from '../../config/sections/client.ts'
import type { User } from '../../iam/users/user.ts'
import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import type { GrantTools } from './grant.ts'

export type IdTokenRequest = {
  readonly user: User
  readonly client: ClientConfig
  readonly sid: string
  readonly scope: string
  /** The nonce of the authorization request; '' for none. */
  readonly nonce: string
  /** When the user logged in, in seconds since the epoch; 0 if unknown. */
  readonly authTime: number
  readonly amr: AuthenticationMethods
  /** The access token of the same response. */
  readonly accessToken: string
  readonly lifeSeconds: number
}

/**
 * Returns the ID token of a token response; undefined unless the scope includes `openid` (OpenID
 * Connect Core section 3.1.2.1).
 */
export async function issueIdToken(
  { issuer }: Pick<GrantTools, 'issuer'>,
  { user, client, lifeSeconds, ...login }: IdTokenRequest,
): Promise<{ readonly id_token?: string }> {
  if (!login.scope.split(' ').includes('openid')) return {}
  const { name: username, displayName, email, isEmailVerified, lang, groups } = user
  const claimed = { username, displayName, email, isEmailVerified, lang, groups }
  const subject = { ...claimed, clientId: client.name, ...login }
  return { id_token: await issuer.id(subject, { lifeSeconds, alg: client.idTokenSigningAlg }) }
}

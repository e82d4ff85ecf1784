import { loginClaims, type TokenLogin } from './authentication-methods.ts'
import { type IdTokenOptions, type IdTokenSubject, signIdToken } from './id-token.ts'
import type { KeySource } from './key-source.ts'
import { isReadOnly, onlineAudience } from './online-audience.ts'
import { isReservedName } from './reserved-username.ts'
import { type IssuedToken, signUserToken } from './sign.ts'

export type TokenSubject = {
  readonly username: string
  /** The uid of the User; a later user with the same name has another uid. */
  readonly uid: string
  readonly groups: readonly string[]
  /** The ID of the login session. */
  readonly sid: string
  readonly clientId: string
  readonly scope: string
  /**
   * Whether only servers that check the session for each request accept the token, since it lives
   * too long to be trusted without a check.
   */
  readonly isLive?: boolean
  /** The audience of another service; Kapis does not accept such tokens. */
  readonly audience?: string
  readonly login?: TokenLogin
  /** Whether the user must change a password that an administrator has set. */
  readonly mustChangePassword?: boolean
}

type Form = { readonly kind: 'access' | 'refresh'; readonly jti?: string }

export type TokenIssuer = {
  /** Issues a JWT access token (RFC 9068). */
  readonly access: (subject: TokenSubject, lifeSeconds: number) => Promise<IssuedToken>
  /**
   * Issues a refresh token, whose audience only the token endpoint accepts.
   *
   * @param jti ID of an earlier refresh token to issue again, because the client may not have received
   * it; a new ID by default
   */
  readonly refresh: (subject: TokenSubject, lifeSeconds: number, jti?: string) => Promise<IssuedToken>
  /** Issues an ID token, for the client only: no endpoint accepts it as a credential. */
  readonly id: (subject: IdTokenSubject, options: IdTokenOptions) => Promise<string>
}

/**
 * Creates the issuer of tokens; `lifeSeconds` is their lifetime, `expiresAt` is in seconds since the
 * epoch.
 *
 * @param options `issuer` is the `iss` of all tokens, `audience` the `aud` of access tokens
 * @returns methods that throw Status 503 before the keys are loaded, and Error for a reserved name
 */
export function createTokenIssuer(options: {
  issuer: string
  audience: string
  keys: KeySource
}): TokenIssuer {
  const { issuer, audience } = options

  function toAudience(
    kind: Form['kind'],
    { scope, isLive = false, audience: other }: TokenSubject,
  ): string[] {
    if (kind === 'refresh') return [issuer]
    if (other !== undefined) return [other]
    return [isLive || isReadOnly(scope) ? onlineAudience(audience) : audience]
  }

  async function issue(subject: TokenSubject, lifeSeconds: number, form: Form): Promise<IssuedToken> {
    const { kind } = form
    const { username } = subject
    const claims = {
      sid: subject.sid,
      client_id: subject.clientId,
      scope: subject.scope,
      // Consoles read these two claims; `extra` makes them prompt the user for a new password.
      token_type: `${kind}_token`,
      username,
      ...(kind === 'access' && subject.mustChangePassword ? { extra: { uninitialized: ['true'] } } : {}),
      ...(kind === 'access' ? { ...whoFor(subject), ...loginClaims(subject.login) } : {}),
    }
    const typ = kind === 'access' ? 'at+jwt' : 'JWT'
    const aud = toAudience(kind, subject)
    return signUserToken(options, { ...form, typ, alg: 'ES256', username, aud, lifeSeconds }, claims)
  }

  return {
    access: (subject, lifeSeconds) => issue(subject, lifeSeconds, { kind: 'access' }),
    refresh: (subject, lifeSeconds, jti) =>
      issue(subject, lifeSeconds, { kind: 'refresh', ...(jti ? { jti } : {}) }),
    id: (subject, of) => signIdToken(options, subject, of),
  }
}

/** Returns the claims from which kube-apiserver reads the user; Kapis reads the stored one. */
function whoFor({ uid, groups }: TokenSubject) {
  return { uid, groups: groups.filter(group => !isReservedName(group)) }
}

import { Status, unauthorized } from '../apierrors/status.ts'
import { type Identity, identityBytes } from '../apirequest/identity/identity.ts'
import { createBoundedCache } from '../cache/bounded-cache.ts'
import { isReadOnly } from '../jwt/online-audience.ts'
import type { Authenticator } from './authenticator.ts'
import { createBearerReader } from './bearer.ts'

type Claims = {
  readonly sub: string
  /** '' if the token does not contain it. */
  readonly uid: string
  readonly sid: string
  readonly jti: string
  readonly exp: number
  readonly iat: number
  readonly scope: string
}
type User = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly state: string
}

export type KapisTokenOptions = {
  readonly verifier: {
    readonly isOurs: (token: string) => boolean
    readonly verifyAccess: (token: string) => Promise<Claims>
  }
  /** The keys of `verifier`: another object after a change. */
  readonly keys: { readonly current: () => object }
  readonly users: { readonly get: (name: string) => User | undefined }
  readonly sessions: { readonly isRevoked: (sid: string, iat: number) => boolean }
  readonly clockSkewSeconds: number
}

type Verified = { readonly claims: Claims; readonly keys: object; user: User; identity: Identity }

export type KapisTokenAuthenticator = Authenticator & {
  /**
   * Returns whether the login of a caller with such a token has ended since, or the user was
   * deleted or disabled.
   */
  readonly hasEnded: (identity: Identity) => boolean
  /** The sid of the login of a caller with such a token; undefined for any other caller. */
  readonly sidOf: (identity: Identity) => string | undefined
}

const maxCacheBytes = 32 * 1024 * 1024

/**
 * Authenticates an access token of Kapis. The signature is cached until the signing keys change: a
 * token of a removed (possibly stolen) key becomes invalid. User and login are checked for each
 * request, and the groups are the current ones of the user, not those in the token.
 */
export function createKapisTokenAuthenticator(options: KapisTokenOptions): KapisTokenAuthenticator {
  const { verifier, keys, users, sessions } = options
  const verified = createBoundedCache<Verified>({
    maxBytes: maxCacheBytes,
    // Claims, and other data that does not come from the stored user.
    sizeOf: ({ identity }) => 1_000 + identityBytes(identity),
    now: () => Date.now(),
  })
  const readBearer = createBearerReader()
  // Weakly keyed by the credential data, which copies of an identity share.
  const claimsOf = new WeakMap<Identity['extra'], Claims>()

  async function verify(token: string, key: string): Promise<Identity> {
    // Before the signature is verified: concurrent changes apply to the next request.
    const verifiedWith = keys.current()
    const claims = await verifier.verifyAccess(token)
    const user = findUser(claims)
    const identity = identify(user, claims)
    verified.set(
      key,
      { claims, keys: verifiedWith, user, identity },
      (claims.exp + options.clockSkewSeconds) * 1000 - Date.now(),
    )
    return identity
  }

  function identify(user: User, claims: Claims): Identity {
    const identity = toIdentity(user, claims)
    claimsOf.set(identity.extra, claims)
    return identity
  }

  function findUser({ sub, uid, sid, iat }: Claims): User {
    const user = users.get(sub)
    if (user === undefined) throw unauthorized('the user does not exist')
    if (uid !== '' && uid !== user.uid)
      throw unauthorized('the user was deleted and created again since the token was issued')
    // A locked user keeps existing logins.
    if (user.state === 'Disabled') throw unauthorized('the user is disabled')
    if (sessions.isRevoked(sid, iat)) throw unauthorized('the login has ended')
    return user
  }

  return {
    name: 'kapis-token',
    authenticate(req) {
      const bearer = readBearer(req)
      if (bearer === null) return null
      const { token, key } = bearer
      const known = verified.get(key)
      if (known === undefined || known.keys !== keys.current())
        return verifier.isOurs(token) ? verify(token, key) : null
      const user = findUser(known.claims)
      if (user !== known.user) {
        known.user = user
        known.identity = identify(user, known.claims)
      }
      return known.identity
    },
    sidOf: ({ extra }) => claimsOf.get(extra)?.sid,
    hasEnded({ extra }) {
      const claims = claimsOf.get(extra)
      if (claims === undefined) return false
      try {
        findUser(claims)
        return false
      } catch (error) {
        // A failed check does not end the login.
        return error instanceof Status && error.code === 401
      }
    },
  }
}

function toIdentity(user: User, { jti, scope }: Claims): Identity {
  // The standard key for the credential ID (KEP-4193).
  const extra = { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`] }
  const identity = { username: user.name, uid: user.uid, groups: user.groups, extra }
  return isReadOnly(scope) ? { ...identity, isReadOnly: true } : identity
}

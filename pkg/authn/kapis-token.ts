import { isStatus, unauthorized } from '../apierrors/status.ts'
import { type Identity, identityBytes } from '../apirequest/identity/identity.ts'
import { createBoundedCache } from '../cache/bounded-cache.ts'
import { type GrantedAccess, noAccess } from '../iam/accessrequests/access-request-store.ts'
import { isReadOnly } from '../jwt/online-audience.ts'
import type { Authenticator } from './authenticator.ts'
import { createBearerReader } from './read-bearer.ts'

type Claims = {
  readonly sub: string
  /** The uid of the user; '' if the token has no uid. */
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
  /** The keys that `verifier` uses; `current` returns another object after a change. */
  readonly keys: { readonly current: () => object }
  readonly users: { readonly get: (name: string) => User | undefined }
  readonly sessions: { readonly isRevoked: (sid: string, iat: number) => boolean }
  readonly clockSkewSeconds: number
  /** Returns temporary groups of a user in a login; the same object until they change. */
  readonly findAccess?: (user: User, sid: string) => GrantedAccess
}

type VerifiedToken = {
  readonly claims: Claims
  readonly keys: object
  user: User
  access: GrantedAccess
  identity: Identity
}
/** The claims and temporary groups of an identity. */
type Origin = { readonly claims: Claims; readonly access: GrantedAccess }

export type KapisTokenAuthenticator = Authenticator & {
  /**
   * Reports whether the login of an identity from this authenticator has ended, or a temporary
   * group, or the user was deleted or disabled.
   */
  readonly hasEnded: (identity: Identity) => boolean
  /** Returns the sid of an identity from this authenticator; undefined for any other identity. */
  readonly sidOf: (identity: Identity) => string | undefined
}

const maxCacheBytes = 32 * 1024 * 1024

/**
 * Authenticates access tokens of Kapis. The result of signature verification is cached until the
 * signing keys change, so that tokens of a removed (possibly stolen) key become invalid. User and
 * login are checked for each request. Groups are read from the stored user, not from the token.
 */
export function createKapisTokenAuthenticator(options: KapisTokenOptions): KapisTokenAuthenticator {
  const { verifier, keys, users, sessions, findAccess = () => noAccess } = options
  const verified = createBoundedCache<VerifiedToken>({
    maxBytes: maxCacheBytes,
    // Claims and other data that the stored user does not contain.
    sizeOf: ({ identity }) => 1_000 + identityBytes(identity),
    now: () => Date.now(),
  })
  const readBearer = createBearerReader()
  // Keyed by `extra`, which copies of an identity share.
  const originOf = new WeakMap<Identity['extra'], Origin>()

  async function verify(token: string, key: string): Promise<Identity> {
    // Read before verification: if the keys change concurrently, the next request verifies again.
    const verifiedWith = keys.current()
    const claims = await verifier.verifyAccess(token)
    const user = findUser(claims)
    const access = findAccess(user, claims.sid)
    const identity = identify(user, { claims, access })
    verified.set(
      key,
      { claims, keys: verifiedWith, user, access, identity },
      (claims.exp + options.clockSkewSeconds) * 1000 - Date.now(),
    )
    return identity
  }

  function identify(user: User, origin: Origin): Identity {
    const identity = toIdentity(user, origin)
    originOf.set(identity.extra, origin)
    return identity
  }

  function findUser({ sub, uid, sid, iat }: Claims): User {
    const user = users.get(sub)
    if (user === undefined) throw unauthorized('the user does not exist')
    if (uid !== '' && uid !== user.uid)
      throw unauthorized('the user was deleted and created again since the token was issued')
    // The existing logins of a locked user stay valid.
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
      const access = findAccess(user, known.claims.sid)
      if (user !== known.user || access !== known.access) {
        known.user = user
        known.access = access
        known.identity = identify(user, { claims: known.claims, access })
      }
      return known.identity
    },
    sidOf: ({ extra }) => originOf.get(extra)?.claims.sid,
    hasEnded({ extra }) {
      const origin = originOf.get(extra)
      if (origin === undefined) return false
      const { claims, access } = origin
      try {
        const { groups } = findAccess(findUser(claims), claims.sid)
        return access.groups.some(group => !groups.includes(group))
      } catch (error) {
        // Only a 401 means that the login has ended; any other failed check does not end it.
        return isStatus(error, 401)
      }
    },
  }
}

function toIdentity(user: User, { claims: { jti, scope }, access }: Origin): Identity {
  // The standard key of credential IDs (KEP-4193).
  const extra = { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`], ...access.extra }
  const groups = access === noAccess ? user.groups : [...new Set([...user.groups, ...access.groups])]
  const identity = { username: user.name, uid: user.uid, groups, extra }
  return isReadOnly(scope) ? { ...identity, isReadOnly: true } : identity
}

import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Status, tooManyRequests } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { parseTarget } from '../apirequest/target.ts'
import { createBoundedCache } from '../cache/bounded-cache.ts'
import { isCrossOrigin } from '../httpserver/request/cross-origin.ts'
import type { Authenticator } from './authenticator.ts'
import { type BasicCredential, basicChallenge, readBasic } from './basic-credential.ts'
import { assertOneAuthorization } from './one-authorization.ts'

type User = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly state: string
  /** Fingerprint of the password hash; changes with the password. */
  readonly credential: string
  /** Whether the user must change a password that an administrator has set. */
  readonly mustChangePassword: boolean
}

/** How a path accepts passwords. */
export type BasicPath = {
  /** How long a correct password is cached, in milliseconds. */
  readonly cacheMs: number
  /** Whether a password that an administrator has set is accepted. */
  readonly takesFirstPassword: boolean
}

export type PasswordOutcome =
  | { readonly outcome: 'right'; readonly user: User }
  | { readonly outcome: 'wrong' }
  /** The password is correct, but the user needs a second factor. */
  | { readonly outcome: 'second-factor-required' }
  | { readonly outcome: 'locked'; readonly retryAfterSeconds: number }

export type BasicOptions = {
  /**
   * Returns the rule for passwords at a path (decoded, without query); undefined for paths that
   * only accept tokens.
   */
  readonly accepts: (path: string) => BasicPath | undefined
  /** Checks a password. Failures are counted and lead to a lock. @throws Status 503 */
  readonly check: (req: IncomingMessage, login: string, password: string) => Promise<PasswordOutcome>
  readonly users: { readonly get: (name: string) => User | undefined }
}

export type BasicAuthenticator = Authenticator & {
  /** Reports whether the user has changed the password, or was disabled or deleted. */
  readonly hasEnded: (identity: Identity) => boolean
}

type PasswordUser = Pick<User, 'name' | 'uid' | 'credential'>

const maxCacheBytes = 1024 * 1024
const maxHeaderLength = 4096

/**
 * Authenticates HTTP Basic (RFC 7617) with the password of a user, for log shippers and SDKs
 * without token support. A correct password is cached as a digest with a key of this process, since
 * its verification for each request would cost more than the request.
 */
export function createBasicAuthenticator({ accepts, check, users }: BasicOptions): BasicAuthenticator {
  const key = randomBytes(32)
  const known = createBoundedCache<PasswordUser>({
    maxBytes: maxCacheBytes,
    sizeOf: ({ name, uid, credential }) => 2 * (name.length + uid.length + credential.length),
  })
  const running = new Map<string, Promise<Identity>>()
  // Keyed by `extra`, which copies of an identity share.
  const callers = new WeakMap<Identity['extra'], PasswordUser>()

  function isCurrent({ name, uid, credential }: PasswordUser): boolean {
    const user = users.get(name)
    return user?.uid === uid && user.credential === credential && user.state !== 'Disabled'
  }

  function recall(digest: string, path: BasicPath): Identity | undefined {
    const remembered = known.get(digest)
    const current = remembered && users.get(remembered.name)
    if (current === undefined || remembered === undefined || !isCurrent(remembered)) return undefined
    return toIdentity(current, path)
  }

  /** @throws Status 401; 403 for a browser request that a page of another origin has caused */
  async function identify(req: IncomingMessage, header: string, path: BasicPath): Promise<Identity> {
    if (isCrossOrigin(req))
      throw new Status(403, 'Forbidden', 'HTTP Basic is not accepted from a page of another origin')
    if (header.length > maxHeaderLength) throw rejection('the Authorization header is too long')
    const digest = createHmac('sha256', key).update(`${path.cacheMs} `).update(header).digest('base64')
    const remembered = recall(digest, path)
    if (remembered !== undefined) return remembered
    // Concurrent requests of a client share one verification.
    const earlier = running.get(digest)
    if (earlier !== undefined) {
      await earlier.catch(() => undefined)
      const verifiedBefore = recall(digest, path)
      if (verifiedBefore !== undefined) return verifiedBefore
    }
    const verified = verify(req, header, { digest, path })
    running.set(digest, verified)
    try {
      return await verified
    } finally {
      if (running.get(digest) === verified) running.delete(digest)
    }
  }

  async function verify(
    req: IncomingMessage,
    header: string,
    { digest, path }: { readonly digest: string; readonly path: BasicPath },
  ): Promise<Identity> {
    const { id, secret } = readCredential(header)
    const verdict = await check(req, id, secret)
    if (verdict.outcome === 'locked')
      throw tooManyRequests('too many wrong passwords: try again later', verdict.retryAfterSeconds)
    if (verdict.outcome === 'wrong') throw rejection('incorrect user name or password')
    if (verdict.outcome === 'second-factor-required')
      throw rejection(
        'a second factor is required',
        'this user needs a second factor: use the token of a login',
      )
    const identity = toIdentity(verdict.user, path)
    known.set(digest, verdict.user, path.cacheMs)
    return identity
  }

  function toIdentity(user: User, { takesFirstPassword }: BasicPath): Identity {
    const { name, uid, groups, state, credential, mustChangePassword } = user
    if (state === 'Disabled') throw rejection('the user is disabled')
    if (mustChangePassword && !takesFirstPassword)
      throw rejection('the password was set by an administrator: change it first')
    const extra = {}
    callers.set(extra, { name, uid, credential })
    return { username: name, uid, groups, extra }
  }

  return {
    name: 'basic',
    authenticate(req) {
      const header = req.headers.authorization ?? ''
      const path = /^basic /i.test(header) ? accepts(parseTarget(req.url ?? '/', 'all').path) : undefined
      if (path === undefined) return null
      assertOneAuthorization(req)
      return identify(req, header, path)
    },
    hasEnded({ extra }) {
      const caller = callers.get(extra)
      if (caller === undefined) return false
      try {
        return !isCurrent(caller)
      } catch {
        // A failed check must not end the connection.
        return false
      }
    },
  }
}

/**
 * Returns a 401 with a Basic challenge. Only requests with Basic get it: browsers would otherwise
 * show their own login dialog, and send the password with every later request.
 */
function rejection(cause: string, message = 'Unauthorized'): Status {
  const headers = { 'www-authenticate': basicChallenge }
  return new Status(401, 'Unauthorized', message, { cause, headers })
}

function readCredential(header: string): BasicCredential {
  const credential = readBasic(header)
  if (credential === undefined || credential.id === '') throw rejection('invalid Basic credential')
  return credential
}

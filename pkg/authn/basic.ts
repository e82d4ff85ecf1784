import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { unauthorized } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity.ts'
import { createBoundedCache } from '../cache/bounded-cache.ts'
import type { Authenticator } from './authenticator.ts'
import { type BasicCredential, readBasic } from './basic-credential.ts'

type User = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly state: string
  /** Changes when the password does. */
  readonly credential: string
}

export type BasicOptions = {
  /**
   * Returns whether a path accepts passwords. All others require a token, which expires and can be
   * revoked.
   */
  readonly accepts: (path: string) => boolean
  /**
   * Returns the user if the password is correct, otherwise undefined. Failures are counted and lead
   * to a lock.
   *
   * @throws Status 503
   */
  readonly check: (req: IncomingMessage, login: string, password: string) => Promise<User | undefined>
  readonly users: { readonly get: (name: string) => User | undefined }
}

const cacheMs = 300_000
const maxCacheBytes = 1024 * 1024
const maxHeaderLength = 4096

/**
 * Authenticates HTTP Basic (RFC 7617) with the password of a user, for log shippers without token
 * support. A correct password is cached by its digest until it changes: verifying it again for each
 * batch would cost more than the batch.
 */
export function createBasicAuthenticator({ accepts, check, users }: BasicOptions): Authenticator {
  const known = createBoundedCache<Pick<User, 'name' | 'credential'>>({
    maxBytes: maxCacheBytes,
    sizeOf: ({ name, credential }) => 2 * (name.length + credential.length),
  })

  return {
    name: 'basic',
    authenticate(req) {
      const header = req.headers.authorization ?? ''
      return /^basic /i.test(header) && accepts(req.url ?? '') ? identify(req, header) : null
    },
  }

  async function identify(req: IncomingMessage, header: string): Promise<Identity> {
    if (header.length > maxHeaderLength) throw unauthorized('the Authorization header is too long')
    const key = createHash('sha256').update(header).digest('base64')
    const remembered = known.get(key)
    const current = remembered && users.get(remembered.name)
    if (current !== undefined && current.credential === remembered?.credential) return toIdentity(current)
    const { id, secret } = readCredential(header)
    const user = await check(req, id, secret)
    if (user === undefined) throw unauthorized('incorrect user name or password')
    const { name, credential } = user
    known.set(key, { name, credential }, cacheMs)
    return toIdentity(user)
  }
}

function toIdentity({ name, uid, groups, state }: User): Identity {
  if (state === 'Disabled') throw unauthorized('the user is disabled')
  return { username: name, uid, groups, extra: {} }
}

function readCredential(header: string): BasicCredential {
  const credential = readBasic(header)
  if (credential === undefined || credential.id === '') throw unauthorized('invalid Basic credential')
  return credential
}

import { createHash } from 'node:crypto'
import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import type { InternalJwts } from '../../jwt/internal-jwt.ts'
import type { GrantedScope } from '../login.ts'

/** The data that an authorization code is bound to. A code starts at most one login. */
export type CodeGrant = {
  readonly user: string
  readonly userUid: string
  readonly clientId: string
  /** The redirect_uri of the request; '' if the request had none. */
  readonly redirectUri: string
  readonly scope: GrantedScope
  readonly challenge: string
  readonly nonce: string
  /** When the user logged in, in seconds since the epoch. */
  readonly authTime: number
  readonly amr: AuthenticationMethods
  readonly provider: string
  /** The sid of the browser session. The code becomes invalid when that session ends. */
  readonly browserSid: string
}

/**
 * A verified code. `sid` is the ID of the login that the code starts: if the code is used twice,
 * creating the second session fails with a conflict, on any replica.
 */
export type ReadCode = Omit<CodeGrant, 'redirectUri'> & {
  readonly sid: string
  readonly redirectHash: string
}

// RFC 6749 section 4.1.2 allows ten minutes; clients redeem codes immediately.
const lifeSeconds = 60

export function issueCode(internalJwts: InternalJwts, grant: CodeGrant): Promise<string> {
  const claims = {
    sub: grant.user,
    uid: grant.userUid,
    client_id: grant.clientId,
    redirect: hashRedirectUri(grant.redirectUri),
    scope: grant.scope.granted,
    scope_asked: Number(grant.scope.isAsked),
    challenge: grant.challenge,
    nonce: grant.nonce,
    auth_time: grant.authTime,
    amr: grant.amr,
    idp: grant.provider,
    bsid: grant.browserSid,
  }
  return internalJwts.sign('code', claims, { lifeSeconds })
}

/** Verifies a code. @returns undefined if the code is invalid or expired */
export async function readCode(internalJwts: InternalJwts, code: string): Promise<ReadCode | undefined> {
  const claims = await internalJwts.verify('code', code)
  if (claims === undefined) return undefined
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '')
  return {
    sid: claims.jti,
    user: text('sub'),
    userUid: text('uid'),
    clientId: text('client_id'),
    redirectHash: text('redirect'),
    scope: { granted: text('scope'), isAsked: claims.scope_asked === 1 },
    challenge: text('challenge'),
    nonce: text('nonce'),
    authTime: typeof claims.auth_time === 'number' ? claims.auth_time : 0,
    amr: text('amr'),
    provider: text('idp'),
    browserSid: text('bsid'),
  }
}

/** Hashes a redirect URI for the code: the code is part of a URL and should be short. */
export function hashRedirectUri(uri: string): string {
  return createHash('sha256').update(uri).digest('base64url')
}

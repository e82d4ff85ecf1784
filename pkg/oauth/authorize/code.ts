import { createHash } from 'node:crypto'
import type { Statements } from '../../jwt/internal-jwt.ts'
import type { GrantedScope } from '../login.ts'

/** What an authorization code stands for. It is bound to all of it, and good for one login. */
export type CodeGrant = {
  readonly user: string
  readonly userUid: string
  readonly clientId: string
  /** As the request named it; '' when it named none. */
  readonly redirectUri: string
  readonly scope: GrantedScope
  readonly challenge: string
  readonly nonce: string
  /** When the user logged in, in seconds since the epoch. */
  readonly authTime: number
  readonly provider: string
  /** The browser's login: the code is worth nothing once that has ended. */
  readonly browserSid: string
}

/** `sid` names the login that the code makes: a second use finds it taken, on whichever replica. */
export type ReadCode = Omit<CodeGrant, 'redirectUri'> & {
  readonly sid: string
  readonly redirectHash: string
}

// RFC 6749 section 4.1.2 allows ten minutes; a client's server comes at once.
const lifeSeconds = 60

export function issueCode(statements: Statements, grant: CodeGrant): Promise<string> {
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
    idp: grant.provider,
    bsid: grant.browserSid,
  }
  return statements.sign('code', claims, { lifeSeconds })
}

/** @returns undefined for whatever is no code of ours, or has expired */
export async function readCode(statements: Statements, code: string): Promise<ReadCode | undefined> {
  const claims = await statements.verify('code', code)
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
    provider: text('idp'),
    browserSid: text('bsid'),
  }
}

/** The code travels by URL: a hash keeps it short. */
export function hashRedirectUri(uri: string): string {
  return createHash('sha256').update(uri).digest('base64url')
}

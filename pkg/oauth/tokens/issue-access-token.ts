import { randomUUID } from 'node:crypto'
import type { Session, SessionType } from '../../iam/sessions/session.ts'
import type { User } from '../../iam/users/user.ts'
import type { GrantTools } from './grant.ts'

export type AccessTokenRequest = {
  readonly user: User
  readonly type: Exclude<SessionType, ''>
  readonly clientId: string
  readonly scope: string
  readonly lifeSeconds: number
  readonly displayName?: string
  /** Defaults to the audience of Kapis. */
  readonly audience?: string
  readonly isLive?: boolean
  /** The login that creates the token, with which the token ends too. */
  readonly login?: Pick<Session, 'userGeneration' | 'credential' | 'provider'>
  /** The sid of a login; the token ends with this login. */
  readonly parent?: string
}

/** Issues an access token without a refresh token, in a session that can be revoked. */
export async function issueAccessToken(
  tools: Pick<GrantTools, 'issuer' | 'sessions'>,
  {
    user,
    type,
    clientId,
    scope,
    lifeSeconds,
    displayName = '',
    isLive = false,
    audience,
    login,
    parent = '',
  }: AccessTokenRequest,
) {
  const sid = randomUUID()
  const { name: username, uid, groups } = user
  const subject = { username, uid, groups, sid, clientId, scope, isLive, ...(audience ? { audience } : {}) }
  const issued = await tools.issuer.access(subject, lifeSeconds)
  const session = await tools.sessions.create({
    sid,
    type,
    parent,
    browserSid: '',
    displayName,
    user: user.name,
    userUid: user.uid,
    userGeneration: login?.userGeneration ?? user.generation,
    credential: login?.credential ?? '',
    provider: login?.provider ?? '',
    clientId,
    scope,
    authenticatedAtMs: 0,
    amr: '',
    refreshId: '',
    previousRefreshId: '',
    rotatedAtMs: Date.now(),
    expiresAtMs: issued.expiresAt * 1000,
    ended: '',
  })
  return { issued, session }
}

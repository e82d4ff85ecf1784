import { randomUUID } from 'node:crypto'
import type { SessionType } from '../iam/session.ts'
import type { User } from '../iam/user.ts'
import type { GrantTools } from './grant.ts'

export type LoneToken = {
  readonly user: User
  readonly type: Exclude<SessionType, ''>
  readonly clientId: string
  readonly scope: string
  readonly lifeSeconds: number
  readonly displayName?: string
  readonly isLive?: boolean
}

/** An access token without a refresh token. It has a session of its own, by which it can be ended like a login. */
export async function issueLoneToken(
  tools: Pick<GrantTools, 'issuer' | 'sessions'>,
  { user, type, clientId, scope, lifeSeconds, displayName = '', isLive = false }: LoneToken,
) {
  const sid = randomUUID()
  const { name: username, uid, groups } = user
  const subject = { username, uid, groups, sid, clientId, scope, isLive }
  const issued = await tools.issuer.access(subject, lifeSeconds)
  const session = await tools.sessions.create({
    sid,
    type,
    displayName,
    user: user.name,
    userUid: user.uid,
    userGeneration: user.generation,
    // No password had a part in it: it goes on when the password is changed.
    credential: '',
    provider: '',
    clientId,
    scope,
    refreshId: '',
    previousRefreshId: '',
    rotatedAtMs: Date.now(),
    expiresAtMs: issued.expiresAt * 1000,
    ended: '',
  })
  return { issued, session }
}

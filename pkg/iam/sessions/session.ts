import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import { iamVersion, type User } from '../users/user.ts'

const sessionTypes = ['', 'Browser', 'PersonalAccessToken', 'ClientCredentials', 'TokenExchange'] as const
/**
 * The type of a session: the login of a client (''), the login of a browser, or a token without a
 * refresh token that can be revoked like a login.
 */
export type SessionType = (typeof sessionTypes)[number]

/** A login: a `LoginSession` of iam.<group domain>, named by the sid of its tokens. */
export type Session = {
  readonly sid: string
  readonly resourceVersion: string
  /** '' for the login of a client. */
  readonly type: SessionType
  /** The sid of the login whose token was exchanged, with which the session ends; or ''. */
  readonly parent: string
  /**
   * For the login of a client with scope openid: the browser session that it began in, whose logout
   * ends it. For a browser session: the first of consecutive sessions of the same user in the same
   * browser. '' for others.
   */
  readonly browserSid: string
  /** Name of a personal access token, or of a policy of token exchange. */
  readonly displayName: string
  /** When the session was created, by kube-apiserver's clock, in ms since the epoch. */
  readonly createdAtMs: number
  readonly user: string
  /** uid of the user: another user with the same name does not own this login. */
  readonly userUid: string
  readonly userGeneration: number
  /** The credential of the user at the login; '' if no local password was used. */
  readonly credential: string
  /** The identity provider; '' for local users. */
  readonly provider: string
  readonly clientId: string
  readonly scope: string
  /** When the user authenticated, which may be before the login began; 0 if unknown. */
  readonly authenticatedAtMs: number
  readonly amr: AuthenticationMethods
  readonly refreshId: string
  readonly previousRefreshId: string
  /** When the refresh token was last rotated, in milliseconds since the epoch. */
  readonly rotatedAtMs: number
  readonly expiresAtMs: number
  /** Why the session has ended; '' while it is active. */
  readonly ended: string
}

/** A session that is not stored yet. */
export type NewSession = Omit<Session, 'resourceVersion' | 'createdAtMs'>

export function sessionsPath(groupDomain: string): string {
  return `/apis/iam.${groupDomain}/${iamVersion}/loginsessions`
}

/**
 * Reports whether a login is obsolete: the name now belongs to another user, or the password was
 * changed. Users and logins are watched separately, so a user older than the login is ignored.
 */
export function isObsoleteSession(session: Session, user: User): boolean {
  if (session.userUid !== '' && session.userUid !== user.uid) return true
  if (session.credential === '' || user.generation < session.userGeneration) return false
  return session.credential !== user.credential
}

export function toSession({ metadata, spec }: KubeObject): Session {
  const stored = isRecord(spec) ? spec : {}
  const text = (key: string) => (typeof stored[key] === 'string' ? stored[key] : '')
  return {
    sid: metadata.name,
    resourceVersion: metadata.resourceVersion,
    type: sessionTypes.find(type => type === stored.type) ?? '',
    parent: text('parent'),
    browserSid: text('browserSid'),
    displayName: text('displayName'),
    createdAtMs: Date.parse(metadata.creationTimestamp) || 0,
    user: text('user'),
    userUid: text('userUid'),
    userGeneration: typeof stored.userGeneration === 'number' ? stored.userGeneration : 0,
    credential: text('credential'),
    provider: text('provider'),
    clientId: text('clientId'),
    scope: text('scope'),
    authenticatedAtMs: Date.parse(text('authenticatedAt')) || 0,
    amr: text('amr'),
    refreshId: text('refreshId'),
    previousRefreshId: text('previousRefreshId'),
    rotatedAtMs: Date.parse(text('rotatedAt')) || 0,
    expiresAtMs: Date.parse(text('expiresAt')) || 0,
    ended: text('ended'),
  }
}

/** @param session a stored session with the resourceVersion that was read, or a new session */
export function toLoginSession(session: NewSession & Partial<Session>, groupDomain: string): object {
  const { sid, resourceVersion = '', createdAtMs: _, rotatedAtMs, expiresAtMs, ...others } = session
  const { authenticatedAtMs, ...rest } = others
  // Empty fields are omitted.
  const members = Object.entries(rest).filter(([, value]) => value !== '')
  return {
    apiVersion: `iam.${groupDomain}/${iamVersion}`,
    kind: 'LoginSession',
    metadata: {
      name: sid,
      ...(resourceVersion === '' ? {} : { resourceVersion }),
      // kube-apiserver garbage-collects the logins of a deleted user.
      ...(session.userUid === '' ? {} : { ownerReferences: [toOwner(session, groupDomain)] }),
    },
    spec: {
      ...Object.fromEntries(members),
      ...(authenticatedAtMs === 0 ? {} : { authenticatedAt: new Date(authenticatedAtMs).toISOString() }),
      rotatedAt: new Date(rotatedAtMs).toISOString(),
      expiresAt: new Date(expiresAtMs).toISOString(),
    },
  }
}

function toOwner({ user, userUid }: NewSession, groupDomain: string): object {
  return { apiVersion: `iam.${groupDomain}/${iamVersion}`, kind: 'User', name: user, uid: userUid }
}

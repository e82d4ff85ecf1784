import { isRecord, type KubeObject } from '../kube/object.ts'
import { iamVersion } from './user.ts'

/** One login: a `LoginSession` of iam.<group domain>/v1alpha2, named by the sid claim of its tokens. */
export type Session = {
  readonly sid: string
  readonly resourceVersion: string
  readonly user: string
  readonly clientId: string
  readonly scope: string
  readonly refreshId: string
  readonly previousRefreshId: string
  /** Milliseconds since the epoch. */
  readonly rotatedAtMs: number
  readonly expiresAtMs: number
  /** Why it was ended; '' while it is good. */
  readonly ended: string
}

export function sessionsPath(groupDomain: string): string {
  return `/apis/iam.${groupDomain}/${iamVersion}/loginsessions`
}

export function toSession({ metadata, spec }: KubeObject): Session {
  const stored = isRecord(spec) ? spec : {}
  const text = (key: string) => (typeof stored[key] === 'string' ? stored[key] : '')
  return {
    sid: metadata.name,
    resourceVersion: metadata.resourceVersion,
    user: text('user'),
    clientId: text('clientId'),
    scope: text('scope'),
    refreshId: text('refreshId'),
    previousRefreshId: text('previousRefreshId'),
    rotatedAtMs: Date.parse(text('rotatedAt')) || 0,
    expiresAtMs: Date.parse(text('expiresAt')) || 0,
    ended: text('ended'),
  }
}

/** @param session without a resource version it is a new one */
export function toLoginSession(session: Session, groupDomain: string): object {
  const { sid, resourceVersion, user, clientId, scope, refreshId, previousRefreshId, ended } = session
  return {
    apiVersion: `iam.${groupDomain}/${iamVersion}`,
    kind: 'LoginSession',
    metadata: { name: sid, ...(resourceVersion === '' ? {} : { resourceVersion }) },
    spec: {
      user,
      clientId,
      scope,
      refreshId,
      ...(previousRefreshId === '' ? {} : { previousRefreshId }),
      rotatedAt: new Date(session.rotatedAtMs).toISOString(),
      expiresAt: new Date(session.expiresAtMs).toISOString(),
      ...(ended === '' ? {} : { ended }),
    },
  }
}

import { type KubeObject, membersOf, textOf } from '../../kubeclient/object/object.ts'
import { iamVersion } from '../users/user.ts'
import { groupProblem } from '../users/user-validation.ts'

/** A request of a user to have a group until a time: an `AccessRequest` of iam.<group domain>. */
export type AccessRequest = {
  readonly name: string
  readonly uid: string
  readonly user: string
  readonly userUid: string
  readonly group: string
  readonly isApproved: boolean
  /** Milliseconds since the epoch: when the user has the group no more. */
  readonly expiresAtMs: number
}

// The limit of the CustomResourceDefinition, which an older one may not have.
const maxSeconds = 43_200

export function accessRequestsPath(groupDomain: string): string {
  return `/apis/iam.${groupDomain}/${iamVersion}/accessrequests`
}

/** The time counts from when the request was stored, so that no decision makes it longer. */
export function toAccessRequest({ metadata, spec, status }: KubeObject): AccessRequest {
  const { user, userUid, group, seconds } = membersOf(spec)
  const lasts = typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, maxSeconds) : 0
  const name = textOf(group)
  return {
    name: metadata.name,
    uid: metadata.uid,
    user: textOf(user),
    userUid: textOf(userUid),
    group: name,
    isApproved: membersOf(status).state === 'Approved' && groupProblem(name) === undefined,
    expiresAtMs: (Date.parse(metadata.creationTimestamp) || 0) + lasts * 1000,
  }
}

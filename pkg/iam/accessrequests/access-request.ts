import { fieldsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import { iamVersion } from '../users/user.ts'
import { groupProblem } from '../users/user-validation.ts'

/** A request of a user to be in a group for a limited time (AccessRequest of iam). */
export type AccessRequest = {
  readonly name: string
  readonly uid: string
  readonly user: string
  readonly userUid: string
  readonly group: string
  readonly isApproved: boolean
  /** When the access ends, in milliseconds since the epoch. */
  readonly expiresAtMs: number
}

// The limit of the CustomResourceDefinition; an older CustomResourceDefinition may have none.
const maxSeconds = 43_200

export function accessRequestsPath(groupDomain: string): string {
  return `/apis/iam.${groupDomain}/${iamVersion}/accessrequests`
}

/** Converts an AccessRequest, whose duration begins when it was created. */
export function toAccessRequest({ metadata, spec, status }: KubeObject): AccessRequest {
  const { user, userUid, group, seconds } = fieldsOf(spec)
  const lasts = typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, maxSeconds) : 0
  const name = textOf(group)
  return {
    name: metadata.name,
    uid: metadata.uid,
    user: textOf(user),
    userUid: textOf(userUid),
    group: name,
    isApproved: fieldsOf(status).state === 'Approved' && groupProblem(name) === undefined,
    expiresAtMs: (Date.parse(metadata.creationTimestamp) || 0) + lasts * 1000,
  }
}

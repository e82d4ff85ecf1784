/** The authenticated user (UserInfo of authentication.k8s.io/v1). `extra` has lower-case keys. */
export type Identity = {
  readonly username: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  /** Whether the credential is read-only, regardless of the permissions of its user. */
  readonly isReadOnly?: boolean
  /**
   * Whether the identity was received over HTTP/1.1, which strips spaces: the actual name of the
   * caller may begin or end with a space.
   */
  readonly isTrimmed?: boolean
}

/** Returns the estimated size of an identity in memory, in bytes. */
export function identityBytes(identity: Identity): number {
  return 200 + 2 * JSON.stringify(identity).length
}

const superuserGroup = 'system:masters'

/** Returns whether kube-apiserver allows the caller everything without consulting RBAC. */
export function isSuperuser({ groups, isTrimmed }: Identity): boolean {
  return groups.includes(superuserGroup) && isTrimmed !== true
}

export const authenticatedGroup = 'system:authenticated'
export const unauthenticatedGroup = 'system:unauthenticated'

/** The identity of a caller without credentials, with the name that kube-apiserver uses. */
export const anonymous: Identity = Object.freeze({
  username: 'system:anonymous',
  uid: '',
  groups: Object.freeze([unauthenticatedGroup]),
  extra: Object.freeze({}),
})

export function isAnonymous(identity: Identity): boolean {
  return identity.username === anonymous.username
}

/** Returns whether the caller, not the impersonated user, sent no credential. */
export function hasNoCredential(identity: Identity): boolean {
  return identity === anonymous
}

/**
 * Adds system:unauthenticated to the anonymous user, and system:authenticated to any other user
 * that has neither group. The authentication and impersonation filters of kube-apiserver do the
 * same. The aggregator authenticates as `system:aggregator` without groups: without the added group
 * its discovery requests would be forbidden.
 */
export function withAuthenticatedGroup(identity: Identity): Identity {
  const { groups } = identity
  const missing = isAnonymous(identity) ? unauthenticatedGroup : authenticatedGroup
  if (groups.includes(missing) || groups.includes(unauthenticatedGroup)) return identity
  return { ...identity, groups: [...groups, missing] }
}

const dnsLabel = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'
const serviceAccountName = new RegExp(
  `^system:serviceaccount:(${dnsLabel}):((?=.{1,253}$)${dnsLabel}(?:\\.${dnsLabel})*)$`,
)

/** Splits the user name of a service account; undefined for any other name. */
export function splitServiceAccount(username: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = serviceAccountName.exec(username) ?? []
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}

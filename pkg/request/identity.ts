/** Who calls: authentication.k8s.io/v1 UserInfo. `extra` keys are lower case. */
export type Identity = {
  readonly username: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  /** The credential is one that may look and not touch, whatever its owner may. */
  readonly isReadOnly?: boolean
}

export const authenticatedGroup = 'system:authenticated'

/** The caller without credentials, as kube-apiserver names it. */
export const anonymous: Identity = Object.freeze({
  username: 'system:anonymous',
  uid: '',
  groups: Object.freeze(['system:unauthenticated']),
  extra: Object.freeze({}),
})

export function isAnonymous(identity: Identity): boolean {
  return identity.username === anonymous.username
}

/**
 * Adds `system:authenticated`, as every kube-apiserver authenticator does. The aggregator calls as
 * `system:aggregator` without any group: without this addition its discovery calls would be refused.
 */
export function withAuthenticatedGroup(identity: Identity): Identity {
  if (identity.groups.includes(authenticatedGroup) || isAnonymous(identity)) return identity
  return { ...identity, groups: [...identity.groups, authenticatedGroup] }
}

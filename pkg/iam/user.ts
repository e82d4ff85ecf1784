import { isRecord, type KubeObject } from '../kube/object.ts'

export type UserState = 'Active' | 'Disabled' | 'AuthLimitExceeded'

/** A `User` of iam.<group domain>/v1alpha2. */
export type User = {
  readonly name: string
  readonly uid: string
  readonly email: string
  readonly groups: readonly string[]
  readonly state: UserState
  /** bcrypt; undefined for a user who cannot log in with a password. */
  readonly passwordHash: string | undefined
}

export const iamVersion = 'v1alpha2'

export function usersPath(groupDomain: string): string {
  return `/apis/iam.${groupDomain}/${iamVersion}/users`
}

export function toUser({ metadata, spec, status }: KubeObject): User {
  const wanted = isRecord(spec) ? spec : {}
  const state = isRecord(status) ? status.state : undefined
  const { email, groups, password } = wanted
  return {
    name: metadata.name,
    uid: metadata.uid,
    email: typeof email === 'string' ? email : '',
    // The schema refuses the orchestrator's own groups; a user that was stored before the schema must not gain them.
    groups: Array.isArray(groups)
      ? groups.filter(group => typeof group === 'string' && !group.startsWith('system:'))
      : [],
    // A user who was made a moment ago has no state yet, and may log in.
    state: state === 'Disabled' || state === 'AuthLimitExceeded' ? state : 'Active',
    passwordHash: typeof password === 'string' && password.startsWith('$2') ? password : undefined,
  }
}

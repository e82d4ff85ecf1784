import { createHash } from 'node:crypto'
import type { KubeClient } from '../kube/client.ts'
import { isRecord, type KubeObject, parseObject } from '../kube/object.ts'
import { Status } from '../status/status.ts'
import { isReservedName } from '../token/reserved-name.ts'

export type UserState = 'Active' | 'Disabled' | 'AuthLimitExceeded'

/** A `User` of iam.<group domain>/v1alpha2. */
export type User = {
  readonly name: string
  readonly uid: string
  readonly createdAt: string
  readonly resourceVersion: string
  /** Grows with each change of the spec; tells which of two views of a user is the newer one. */
  readonly generation: number
  readonly email: string
  readonly displayName: string
  /** A language tag (RFC 5646). */
  readonly lang: string
  readonly groups: readonly string[]
  readonly state: UserState
  /** Since when, in milliseconds; 0 when nobody wrote it down. */
  readonly stateSinceMs: number
  /** bcrypt; undefined for a user who cannot log in with a password. */
  readonly passwordHash: string | undefined
  /** Changes when the password does, and says nothing about it. */
  readonly credential: string
}

export const iamVersion = 'v1alpha2'

export function usersPath(groupDomain: string): string {
  return `/apis/iam.${groupDomain}/${iamVersion}/users`
}

// A cost of more than 15 takes seconds: whoever may write users could stop all logins with one of 31.
const bcryptHash = /^\$2[aby]\$(0[4-9]|1[0-5])\$[./A-Za-z0-9]{53}$/

export function toUser({ metadata, spec, status }: KubeObject): User {
  const { email, displayName, lang, groups, password } = isRecord(spec) ? spec : {}
  const { state, lastTransitionTime } = isRecord(status) ? status : {}
  const passwordHash = typeof password === 'string' && bcryptHash.test(password) ? password : undefined
  return {
    name: metadata.name,
    uid: metadata.uid,
    createdAt: metadata.creationTimestamp,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation ?? 0,
    email: typeof email === 'string' ? email : '',
    displayName: typeof displayName === 'string' ? displayName : '',
    lang: typeof lang === 'string' ? lang : '',
    // The schema refuses the orchestrator's own groups; a user that was stored before the schema must not gain them.
    groups: Array.isArray(groups)
      ? groups.filter(group => typeof group === 'string' && !isReservedName(group))
      : [],
    // A user who was made a moment ago has no state yet, and may log in.
    state: state === 'Disabled' || state === 'AuthLimitExceeded' ? state : 'Active',
    stateSinceMs: typeof lastTransitionTime === 'string' ? Date.parse(lastTransitionTime) || 0 : 0,
    passwordHash,
    credential:
      passwordHash === undefined ? '' : createHash('sha256').update(passwordHash).digest('hex').slice(0, 16),
  }
}

/** The user as he is now; undefined when there is none, or soon will be none. */
export async function readUser(
  client: KubeClient,
  groupDomain: string,
  name: string,
): Promise<User | undefined> {
  try {
    const path = `${usersPath(groupDomain)}/${encodeURIComponent(name)}`
    const object = parseObject(await client.call({ path }))
    return object.metadata.deletionTimestamp === undefined ? toUser(object) : undefined
  } catch (error) {
    if (error instanceof Status && error.code === 404) return undefined
    throw error
  }
}

import { createHash } from 'node:crypto'
import { orUndefined } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { lastAppliedAnnotation } from '../../kubeclient/object/last-applied.ts'
import { isRecord, type KubeObject, parseObject, textOf } from '../../kubeclient/object/object.ts'
import { groupProblem } from './user-validation.ts'

export type UserState = 'Active' | 'Disabled' | 'AuthLimitExceeded'

/** The groups that a provider has last reported, and when, in ms since the epoch. */
export type ProviderGroups = {
  readonly provider: string
  readonly groups: readonly string[]
  readonly observedAtMs: number
}

/** A `User` of iam.<group domain>/v1alpha2. */
export type User = {
  readonly name: string
  readonly uid: string
  readonly createdAt: string
  readonly resourceVersion: string
  /** Incremented with each change of the spec, so the higher one is newer. */
  readonly generation: number
  readonly email: string
  readonly displayName: string
  /** The language of the user, as a tag (RFC 5646). */
  readonly lang: string
  /** The groups in the spec, and the groups from identity providers. */
  readonly groups: readonly string[]
  readonly providerGroups: readonly ProviderGroups[]
  readonly state: UserState
  /** When the state was set, in milliseconds since the epoch; 0 if unknown. */
  readonly stateSinceMs: number
  /** The bcrypt hash in the User itself, until it is moved to a Secret (password-migration.ts). */
  readonly inlineHash: string | undefined
  /** Whether last-applied-configuration of kubectl contains a hash. */
  readonly hasAppliedHash: boolean
  /** Fingerprint of the password hash (see toCredential); '' for a user without a password. */
  readonly credential: string
  /** The namespace of the Secret with the hash; '' for the namespace of this program. */
  readonly credentialNamespace: string
  /** Whether an administrator has set the password, which the user must then change. */
  readonly mustChangePassword: boolean
  /** Whether an administrator or a provider set the e-mail address, not the user. */
  readonly isEmailVerified: boolean
}

export const iamVersion = 'v1alpha2'

export function usersPath(groupDomain: string): string {
  return `/apis/iam.${groupDomain}/${iamVersion}/users`
}

export function userPath(groupDomain: string, name: string): string {
  return `${usersPath(groupDomain)}/${encodeURIComponent(name)}`
}

// A cost above 15 takes seconds: with a cost of 31, a caller with write access to users could block
// all logins.
const bcryptHash = /^\$2[aby]\$(0[4-9]|1[0-5])\$[./A-Za-z0-9]{53}$/

/** Reports whether a text is a bcrypt hash with an acceptable cost. */
export function isPasswordHash(text: string): boolean {
  return bcryptHash.test(text)
}

/** Returns the fingerprint of a hash, which changes with the password but reveals nothing. */
export function toCredential(hash: string): string {
  return createHash('sha256').update(hash).digest('hex').slice(0, 16)
}

/**
 * Returns the name of the annotation with the e-mail address that the user has set. If the address
 * of the user differs from it, an administrator has set the address.
 */
export function ownEmailAnnotation(group: string): string {
  return `${group}/own-email`
}

export function toUser({ apiVersion = '', metadata, spec, status }: KubeObject): User {
  const [group] = apiVersion.split('/')
  const { email, displayName, lang, groups, password, ...rest } = isRecord(spec) ? spec : {}
  const { state, lastTransitionTime, ...observed } = isRecord(status) ? status : {}
  const providerGroups = toProviderGroups(observed.providerGroups)
  const inlineHash = typeof password === 'string' && bcryptHash.test(password) ? password : undefined
  return {
    name: metadata.name,
    uid: metadata.uid,
    createdAt: metadata.creationTimestamp,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation ?? 0,
    email: typeof email === 'string' ? email : '',
    displayName: typeof displayName === 'string' ? displayName : '',
    lang: typeof lang === 'string' ? lang : '',
    groups: [...new Set([...toGroups(groups), ...providerGroups.flatMap(each => each.groups)])],
    providerGroups,
    // A new user has no state yet.
    state: state === 'Disabled' || state === 'AuthLimitExceeded' ? state : 'Active',
    stateSinceMs: typeof lastTransitionTime === 'string' ? Date.parse(lastTransitionTime) || 0 : 0,
    inlineHash,
    hasAppliedHash: /\$2[aby]\$/.test(metadata.annotations?.[lastAppliedAnnotation] ?? ''),
    credential: inlineHash === undefined ? textOf(rest.credential) : toCredential(inlineHash),
    credentialNamespace: textOf(rest.credentialNamespace),
    mustChangePassword: metadata.annotations?.[`${group}/uninitialized`] === 'true',
    isEmailVerified: metadata.annotations?.[ownEmailAnnotation(String(group))] !== email,
  }
}

/** Returns the valid groups: a user may have been stored before the schema. */
function toGroups(value: unknown): readonly string[] {
  return texts(value).filter(group => groupProblem(group) === undefined)
}

/** Returns stored groups of a user that are ignored, as they could be read as others. */
export function ignoredGroups({ spec, status }: KubeObject): readonly string[] {
  const providers = isRecord(status) && Array.isArray(status.providerGroups) ? status.providerGroups : []
  const stored = [spec, ...providers].filter(isRecord).flatMap(({ groups }) => texts(groups))
  return stored.filter(group => groupProblem(group) !== undefined)
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

function toProviderGroups(value: unknown): readonly ProviderGroups[] {
  if (!Array.isArray(value)) return []
  return value.filter(isRecord).map(({ provider, groups, observedAt }) => ({
    provider: String(provider),
    groups: toGroups(groups),
    observedAtMs: Date.parse(String(observedAt)) || 0,
  }))
}

/** Reads the current user; undefined if it does not exist or is being deleted. */
export async function readUser(
  client: KubeClient,
  groupDomain: string,
  name: string,
): Promise<User | undefined> {
  const path = userPath(groupDomain, name)
  const object = await orUndefined(client.call({ path }).then(parseObject), 404)
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  return toUser(object)
}

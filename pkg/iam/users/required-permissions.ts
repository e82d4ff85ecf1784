import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import type { UserDraft } from './parse-user.ts'
import { ownEmailAnnotation, toUser } from './user.ts'
import { readLinks, type UserLink } from './user-link.ts'

/**
 * Permissions that a change of a user requires in addition to write access. They follow the rule of
 * Kubernetes for `bind` and `escalate`: a caller cannot grant what they do not have, and access to
 * a user requires permission to impersonate it.
 */
export type UserRights = {
  /** `update` on these subresources, which their own endpoints require too. */
  readonly subresources: readonly ('password' | 'status')[]
  /** `impersonate` on each of these groups. */
  readonly groups: readonly string[]
  /**
   * `impersonate` on the user: `always`, `never`, or `ifNamed` if a role binding already has the
   * user name as a subject.
   */
  readonly user: 'always' | 'ifNamed' | 'never'
  /**
   * `impersonate` on all groups: linking a user to an account gives the user any group that the
   * provider reports later.
   */
  readonly anyGroup: boolean
}

/**
 * Permissions to create a user: a password or state requires access to the subresource, a group
 * requires permission to impersonate it. A linked user can be used by the owner of the account at
 * the next login.
 */
export function rightsToCreate(draft: UserDraft, groupDomain: string): UserRights {
  const { password, state, spec } = draft
  const isLinked = toLinks(draft, groupDomain).length > 0
  return {
    subresources: subresourcesOf(password !== undefined, state !== undefined && state !== 'Active'),
    groups: toGroups(spec.groups),
    user: isLinked ? 'always' : 'ifNamed',
    anyGroup: isLinked,
  }
}

/**
 * Permissions to change a user from its stored state. A caller who changes the password, the e-mail
 * address or a link can log in as the user from then on, with all groups of the user.
 */
export function rightsToChange(before: KubeObject, draft: UserDraft, groupDomain: string): UserRights {
  const spec = isRecord(before.spec) ? before.spec : {}
  const status = isRecord(before.status) ? before.status : {}
  const { password, state } = draft
  const groups = toGroups(draft.spec.groups)
  const isLinked = hasNewLink(before, draft, groupDomain)
  const isTaken =
    password !== undefined ||
    draft.spec.email !== spec.email ||
    isLinked ||
    hasVouchedEmail(before, draft, groupDomain)
  const known = toGroups(spec.groups)
  return {
    subresources: subresourcesOf(
      password !== undefined,
      state !== undefined && state !== (status.state ?? 'Active'),
    ),
    groups: isTaken
      ? [...new Set([...groups, ...providerGroupsOf(before)])]
      : groups.filter(group => !known.includes(group)),
    user: isTaken ? 'always' : 'never',
    anyGroup: isLinked,
  }
}

/**
 * Permissions to set the password of a user, in addition to `users/password`, which was authorized.
 */
export function rightsToSetPassword(before: KubeObject): UserRights {
  return { subresources: [], groups: toUser(before).groups, user: 'always', anyGroup: false }
}

function subresourcesOf(hasPassword: boolean, hasState: boolean): UserRights['subresources'] {
  return [...(hasPassword ? (['password'] as const) : []), ...(hasState ? (['status'] as const) : [])]
}

/**
 * Returns whether the annotation that marks an unverified e-mail address is removed, which verifies
 * the address.
 */
function hasVouchedEmail(before: KubeObject, { spec, annotations }: UserDraft, groupDomain: string): boolean {
  return (
    !toUser(before).isEmailVerified && annotations[ownEmailAnnotation(`iam.${groupDomain}`)] !== spec.email
  )
}

function hasNewLink({ metadata }: KubeObject, draft: UserDraft, groupDomain: string): boolean {
  const known = readLinks(metadata, groupDomain)
  return toLinks(draft, groupDomain).some(
    ({ provider, uid }) => !known.some(link => link.provider === provider && link.uid === uid),
  )
}

function toLinks({ name, labels, annotations }: UserDraft, groupDomain: string): readonly UserLink[] {
  const metadata = { name, uid: '', resourceVersion: '', creationTimestamp: '' }
  return readLinks({ ...metadata, labels, annotations }, groupDomain)
}

function providerGroupsOf(user: KubeObject): readonly string[] {
  return toUser(user).providerGroups.flatMap(({ groups }) => groups)
}

function toGroups(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(group => typeof group === 'string') : []
}

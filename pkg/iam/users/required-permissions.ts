import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import { ownEmailAnnotation, toUser } from './user.ts'
import type { UserDraft } from './user-draft.ts'
import { readLinks, type UserLink } from './user-link.ts'

/**
 * Permissions that a change of a user requires in addition to write access. As with `bind` and
 * `escalate` in Kubernetes, callers cannot grant what they do not have: access to a user requires
 * permission to impersonate the user.
 */
export type UserPermissions = {
  /** `update` on these subresources, whose own endpoints require it too. */
  readonly subresources: readonly ('password' | 'status')[]
  /** `impersonate` on each of these groups. */
  readonly groups: readonly string[]
  /** `impersonate` on the user; `ifNamed` if a role binding has such a subject. */
  readonly user: 'always' | 'ifNamed' | 'never'
  /** `impersonate` on all groups: a linked user gets any that the provider reports later. */
  readonly anyGroup: boolean
}

/**
 * Returns the permissions to create a user. A password or state requires access to the subresource,
 * and a group requires permission to impersonate it. The owner of a linked account can log in as
 * the user.
 */
export function permissionsToCreate(draft: UserDraft, groupDomain: string): UserPermissions {
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
 * Returns the permissions to change a user. A caller who changes the password, the e-mail address
 * or a link can log in as the user from then on, with all groups of the user.
 */
export function permissionsToChange(
  before: KubeObject,
  draft: UserDraft,
  groupDomain: string,
): UserPermissions {
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

/** Returns the permissions to set a password, in addition to `users/password`. */
export function permissionsToSetPassword(before: KubeObject): UserPermissions {
  return { subresources: [], groups: toUser(before).groups, user: 'always', anyGroup: false }
}

function subresourcesOf(hasPassword: boolean, hasState: boolean): UserPermissions['subresources'] {
  return [...(hasPassword ? (['password'] as const) : []), ...(hasState ? (['status'] as const) : [])]
}

/** Reports whether the draft removes the annotation of an unverified e-mail address. */
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

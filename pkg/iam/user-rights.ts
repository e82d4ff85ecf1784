import { isRecord, type KubeObject } from '../kube/object.ts'
import { toUser } from './user.ts'
import type { UserDraft } from './user-draft.ts'
import { readLinks } from './user-link.ts'

/**
 * The rights that a change of a user takes besides the right to write users. They follow Kubernetes' rule for `bind` and
 * `escalate`: nobody can give what they could not take for themselves, and to become somebody is to impersonate them.
 */
export type UserRights = {
  /** `update` on these subresources of the user: what their own endpoints take. */
  readonly subresources: readonly ('password' | 'status')[]
  /** `impersonate` on each of these groups. */
  readonly groups: readonly string[]
  /**
   * `impersonate` on the user: `always`, `never`, or `ifNamed`, when a binding of RBAC names the user already and the name
   * alone gives rights.
   */
  readonly user: 'always' | 'ifNamed' | 'never'
}

/** A new user: a password or a state of its own is what the subresources are for, a group is given. */
export function rightsToCreate({ password, state, spec }: UserDraft): UserRights {
  return {
    subresources: subresourcesOf(password !== undefined, state !== undefined && state !== 'Active'),
    groups: toGroups(spec.groups),
    user: 'ifNamed',
  }
}

/**
 * A user as stored, and as the caller wants it. Whoever changes a password, an e-mail address or a link to an identity provider
 * can log in as the user from then on, with every group that the user is in.
 */
export function rightsToChange(before: KubeObject, draft: UserDraft, groupDomain: string): UserRights {
  const spec = isRecord(before.spec) ? before.spec : {}
  const status = isRecord(before.status) ? before.status : {}
  const { password, state } = draft
  const groups = toGroups(draft.spec.groups)
  const isTaken =
    password !== undefined || draft.spec.email !== spec.email || hasNewLink(before, draft, groupDomain)
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
  }
}

/** Another password for a user as stored, where `users/password` itself was authorized before. */
export function rightsToSetPassword(before: KubeObject): UserRights {
  return { subresources: [], groups: toUser(before).groups, user: 'always' }
}

function subresourcesOf(hasPassword: boolean, hasState: boolean): UserRights['subresources'] {
  return [...(hasPassword ? (['password'] as const) : []), ...(hasState ? (['status'] as const) : [])]
}

function hasNewLink({ metadata }: KubeObject, { labels, annotations }: UserDraft, groupDomain: string) {
  const known = readLinks(metadata, groupDomain)
  return readLinks({ ...metadata, labels, annotations }, groupDomain).some(
    ({ provider, uid }) => !known.some(link => link.provider === provider && link.uid === uid),
  )
}

function providerGroupsOf(user: KubeObject): readonly string[] {
  return toUser(user).providerGroups.flatMap(({ groups }) => groups)
}

function toGroups(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(group => typeof group === 'string') : []
}

import { isRecord, type KubeObject } from '../../kubeclient/object.ts'
import type { UserDraft } from './parse-user.ts'
import { toUser } from './user.ts'
import { readLinks, type UserLink } from './user-link.ts'

/**
 * The rights that a change of a user takes besides the right to write users. They follow Kubernetes' rule for `bind` and
 * `escalate`: nobody can give what they could not take for themselves, and to become someone is to impersonate them.
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
  /**
   * `impersonate` on groups of any name: anyone who links a user to a person gives the user the groups that the identity provider
   * tells of that person later.
   */
  readonly anyGroup: boolean
}

/**
 * A new user: a password or a state of its own is what the subresources are for, a group is given. One that is linked to a person
 * from the start is who that person becomes at the next login.
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
 * A user as stored, and as the caller wants it. Anyone who changes a password, an e-mail address or a link to an identity provider
 * can log in as the user from then on, with every group that the user is in.
 */
export function rightsToChange(before: KubeObject, draft: UserDraft, groupDomain: string): UserRights {
  const spec = isRecord(before.spec) ? before.spec : {}
  const status = isRecord(before.status) ? before.status : {}
  const { password, state } = draft
  const groups = toGroups(draft.spec.groups)
  const isLinked = hasNewLink(before, draft, groupDomain)
  const isTaken = password !== undefined || draft.spec.email !== spec.email || isLinked
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

/** Another password for a user as stored, where `users/password` itself was authorized before. */
export function rightsToSetPassword(before: KubeObject): UserRights {
  return { subresources: [], groups: toUser(before).groups, user: 'always', anyGroup: false }
}

function subresourcesOf(hasPassword: boolean, hasState: boolean): UserRights['subresources'] {
  return [...(hasPassword ? (['password'] as const) : []), ...(hasState ? (['status'] as const) : [])]
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

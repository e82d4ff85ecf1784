import { Status } from '../../apierrors/status.ts'
import {
  type Identity,
  splitServiceAccount,
  withAuthenticatedGroup,
} from '../../apirequest/identity/identity.ts'

export type SubjectOptions = {
  /** Returns the groups of a User for callers who may read users; undefined without the User. */
  readonly groupsOfUser: (name: string) => Promise<readonly string[] | undefined>
}

export type Subject = { readonly identity: Identity; readonly isSelf: boolean }

/**
 * Returns the subject of a review: the caller or a named user. Groups are added as for an
 * impersonated user: a service account gets the groups of service accounts, and every user is
 * authenticated. A User also has its own groups.
 *
 * @throws Status 403 if the name of the caller may have been altered in transit
 */
export async function findSubject(
  { groupsOfUser }: SubjectOptions,
  { user, groups }: { readonly user: string; readonly groups: readonly string[] },
  caller: Identity,
): Promise<Subject> {
  const isSelf = groups.length === 0 && (user === '' || user === caller.username)
  if (isSelf) {
    if (caller.isTrimmed)
      throw new Status(
        403,
        'Forbidden',
        'kube-apiserver sent the name of the caller over HTTP/1.1, which strips spaces around header values; it must use HTTP/2',
      )
    return { identity: caller, isSelf }
  }
  const account = splitServiceAccount(user)
  const given =
    groups.length > 0
      ? groups
      : account === undefined
        ? ((await groupsOfUser(user)) ?? [])
        : ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
  const named = { username: user, uid: '', groups: [...new Set(given)], extra: {} }
  return { identity: withAuthenticatedGroup(named), isSelf }
}

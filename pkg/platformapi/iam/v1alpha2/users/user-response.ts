import { toUser } from '../../../../iam/users/user.ts'
import { memberText, withMembers } from '../../../../json/members.ts'
import { parseObject } from '../../../../kubeclient/object/object.ts'
import { type Form, objectBytes, platformForm } from '../../../../resourcecache/list/list-body.ts'
import { type KnownPlatformRoles, platformRoleAnnotation } from '../roles/platform-roles.ts'

/**
 * Converts a stored User to the format that consoles of KubeSphere 3.4 read: with the platform role
 * in an annotation, and with a state, which a new user lacks.
 *
 * @param user JSON text
 * @param role undefined if the caller may not know the role; a stored annotation is then removed
 * too
 */
export function toUserText(user: string, role: string | undefined, groupDomain: string): string {
  const metadata = memberText(user, 'metadata')
  const status = memberText(user, 'status') || '{}'
  const shown = role === undefined ? undefined : JSON.stringify(role)
  const annotations = withMembers(
    memberText(metadata, 'annotations') || '{}',
    new Map([[platformRoleAnnotation(groupDomain), shown]]),
  )
  const isStateless = memberText(status, 'state') === ''
  return withMembers(
    user,
    new Map([
      ['metadata', withMembers(metadata, new Map([['annotations', annotations]]))],
      ...(isStateless ? ([['status', withMembers(status, new Map([['state', '"Active"']]))]] as const) : []),
    ]),
  )
}

/** Returns the form of users in lists. @param roles undefined if the caller may not know them */
export function createUserForm(roles: KnownPlatformRoles | undefined, groupDomain: string): Form {
  return {
    name: `user ${roles?.version ?? ''}`,
    isComputed: true,
    toParts(entry) {
      const text = objectBytes(entry, platformForm).toString('utf8')
      const role = roles?.of(toUser(parseObject(entry.parsed())))
      return [Buffer.from(toUserText(text, role, groupDomain))]
    },
  }
}

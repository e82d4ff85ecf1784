import { toUser } from '../../../../iam/users/user.ts'
import { fieldText, withFields } from '../../../../json/fields.ts'
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
  const metadata = fieldText(user, 'metadata')
  const status = fieldText(user, 'status') || '{}'
  const shown = role === undefined ? undefined : JSON.stringify(role)
  const annotations = withFields(
    fieldText(metadata, 'annotations') || '{}',
    new Map([[platformRoleAnnotation(groupDomain), shown]]),
  )
  const isStateless = fieldText(status, 'state') === ''
  return withFields(
    user,
    new Map([
      ['metadata', withFields(metadata, new Map([['annotations', annotations]]))],
      ...(isStateless ? ([['status', withFields(status, new Map([['state', '"Active"']]))]] as const) : []),
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

import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { parseUserDraft } from '../../../../iam/users/user-draft.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../../../kubeclient/object/object.ts'
import { isConflict, retry } from '../../../../kubeclient/retry.ts'
import { isDryRun } from '../../../write/dry-run.ts'
import { withoutPlatformRole } from '../roles/platform-roles.ts'
import { mergePatch } from './merge-patch.ts'
import type { UsersOptions } from './users.ts'

export type ChangeGroups = (
  exchange: AuthenticatedExchange,
  change: { readonly user: string; readonly group: string; readonly isMember: boolean },
) => Promise<void>

/** Returns the groups that an administrator has assigned, not an identity provider. */
export function groupsOf(user: KubeObject): readonly string[] {
  return itemsOf(fieldsOf(user.spec).groups).map(textOf)
}

/**
 * Returns functions that add a user to a group or remove the user from it. They require the same
 * permissions as a change of `/users/{user}`: assigning a group requires permission to impersonate
 * it.
 *
 * @throws Status 403, 404, 409, 422, 503
 */
export function createGroupChanges({
  groupDomain,
  writer,
  permitOf,
  requireWrite,
  audit,
}: Pick<UsersOptions, 'groupDomain' | 'writer' | 'permitOf' | 'requireWrite' | 'audit'>): ChangeGroups {
  return async (exchange, { user, group, isMember }) => {
    const info = { ...exchange.info, verb: 'update', name: user }
    await requireWrite({ ...exchange, info })
    const how = { isDryRun: isDryRun(exchange), permit: permitOf(exchange) }
    const update = async () => {
      const before = withoutPlatformRole(await writer.read(user), groupDomain)
      const known = groupsOf(before)
      if (known.includes(group) === isMember) return false
      const groups = isMember ? [...known, group] : known.filter(each => each !== group)
      const draft = parseUserDraft(mergePatch(before, { spec: { groups } }), groupDomain, user)
      await writer.update({ ...draft, state: undefined }, how)
      return true
    }
    const isChanged = await retry(update, { isRetriable: isConflict, attempts: 5 })
    if (isChanged && !how.isDryRun) audit(exchange, `${isMember ? 'join' : 'leave'} group ${group}`, user)
  }
}

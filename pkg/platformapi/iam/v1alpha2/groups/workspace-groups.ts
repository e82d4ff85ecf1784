import { invalid, notFound } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'
import type { CallAs } from '../../../write/as-caller.ts'
import type { Subject } from '../roles/role-bindings.ts'
import type { ScopeReader, ScopeReaderTools } from '../roles/role-reader.ts'
import type { ChangeGroups } from '../users/user-groups.ts'

export type GroupTools = Pick<ScopeReaderTools, 'groupDomain' | 'require'> & {
  readonly callAs: CallAs
  readonly changeGroups: ChangeGroups
  /** Removes a deleted group from bindings as the caller; warns about remaining ones. */
  readonly leaveBindings: (exchange: AuthenticatedExchange, subject: Subject) => Promise<void>
}

export type WorkspaceGroups = ReturnType<typeof createWorkspaceGroups>

/**
 * Reads the Groups of a workspace, selected by their label. A Group object only describes a group
 * name: users have the name in `spec.groups`, and RBAC bindings grant permissions to it.
 */
export function createWorkspaceGroups(
  { groupDomain, require }: Pick<GroupTools, 'groupDomain' | 'require'>,
  scopes: Pick<ScopeReader, 'latest'>,
) {
  const iam = `iam.${groupDomain}`

  async function requireList(exchange: AuthenticatedExchange, resource: 'groups' | 'users'): Promise<void> {
    await require(exchange, { verb: 'list', group: iam, resource, namespace: '' })
  }

  return {
    iam,
    requireList,
    /** Returns all Groups of a workspace. @throws Status 403 without permission to list, 503 */
    async all(exchange: AuthenticatedExchange, workspace: string): Promise<readonly CachedObject[]> {
      await requireList(exchange, 'groups')
      const groups = [...(await scopes.latest('groups')).entries()]
      return groups.filter(({ meta }) => meta.labels?.[`${groupDomain}/workspace`] === workspace)
    },
    /** Returns one Group of a workspace. @throws Status 403, 404 for one of another, 503 */
    async one(exchange: AuthenticatedExchange, workspace: string, name: string): Promise<CachedObject> {
      await requireList(exchange, 'groups')
      const found = (await scopes.latest('groups')).get('', name)
      if (found?.meta.labels?.[`${groupDomain}/workspace`] === workspace) return found
      throw notFound({ group: iam, resource: 'groups' }, name)
    },
    /** Returns a 422 for a group that does not exist in the workspace. */
    unknownGroup: (name: string, field: string) =>
      invalid({ group: iam, kind: 'GroupBinding' }, [
        { reason: 'FieldValueNotFound', message: `unknown group ${JSON.stringify(name)}`, field },
      ]),
  }
}

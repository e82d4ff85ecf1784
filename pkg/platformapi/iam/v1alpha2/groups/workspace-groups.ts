import { invalid, notFound } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import type { Entry } from '../../../../resourcecache/store/cached-object.ts'
import type { CallAs } from '../../../write/as-caller.ts'
import type { Subject } from '../roles/role-bindings.ts'
import type { ScopeReader, ScopeReaderTools } from '../roles/scope-reader.ts'
import type { ChangeGroups } from '../users/user-groups.ts'

export type GroupTools = Pick<ScopeReaderTools, 'groupDomain' | 'require'> & {
  readonly callAs: CallAs
  readonly changeGroups: ChangeGroups
  /** Removes a deleted group from bindings, as the caller, with a warning of those that stay. */
  readonly leaveBindings: (exchange: AuthenticatedExchange, subject: Subject) => Promise<void>
}

export type WorkspaceGroups = ReturnType<typeof createWorkspaceGroups>

/**
 * The Groups of a workspace, by their label. A Group only describes the name that users have in
 * `spec.groups`, and that bindings of RBAC give rights to.
 */
export function createWorkspaceGroups(
  { groupDomain, require }: Pick<GroupTools, 'groupDomain' | 'require'>,
  places: Pick<ScopeReader, 'latest'>,
) {
  const iam = `iam.${groupDomain}`

  async function requireList(exchange: AuthenticatedExchange, resource: 'groups' | 'users'): Promise<void> {
    await require(exchange, { verb: 'list', group: iam, resource, namespace: '' })
  }

  return {
    iam,
    requireList,
    /** @throws Status 403 for a caller who may not list Groups, 503 */
    async all(exchange: AuthenticatedExchange, workspace: string): Promise<readonly Entry[]> {
      await requireList(exchange, 'groups')
      const groups = [...(await places.latest('groups')).entries()]
      return groups.filter(({ meta }) => meta.labels?.[`${groupDomain}/workspace`] === workspace)
    },
    /** @throws Status 403, 404 for a group of another workspace, 503 */
    async one(exchange: AuthenticatedExchange, workspace: string, name: string): Promise<Entry> {
      await requireList(exchange, 'groups')
      const found = (await places.latest('groups')).get('', name)
      if (found?.meta.labels?.[`${groupDomain}/workspace`] === workspace) return found
      throw notFound({ group: iam, resource: 'groups' }, name)
    },
    /** 422 for a group that a workspace does not have. */
    unknownGroup: (name: string, field: string) =>
      invalid({ group: iam, kind: 'GroupBinding' }, [
        { reason: 'FieldValueNotFound', message: `unknown group ${JSON.stringify(name)}`, field },
      ]),
  }
}

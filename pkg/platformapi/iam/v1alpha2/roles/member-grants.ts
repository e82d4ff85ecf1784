import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { isOver } from '../../../../httpserver/response/respond.ts'
import type { CallAs } from '../../../write/as-caller.ts'
import { applyChanges, type MemberChange, type Progress, type Step } from './member-changes.ts'
import { createWorkspaceRecords } from './member-records.ts'
import { bind, unbind, unknownRole } from './member-writes.ts'
import {
  type AssignedRole,
  isSameRole,
  type RoleRef,
  type ScopeRef,
  type Subject,
  workspaceRolesOf,
} from './role-bindings.ts'
import type { ResolvedScope, ScopeReader } from './role-reader.ts'

type GrantTools = { readonly groupDomain: string; readonly callAs: CallAs }

/** Grants users and groups the roles of a scope, with bindings that are written as the caller. */
export function createMemberGrants({ groupDomain, callAs }: GrantTools, scopes: ScopeReader) {
  const records = createWorkspaceRecords({ groupDomain, callAs, scopes })

  /** Resolves a scope whose bindings the caller may list. @throws Status 403 */
  async function resolveScope(exchange: AuthenticatedExchange, scopeRef: ScopeRef): Promise<ResolvedScope> {
    const known = await scopes.resolve(scopeRef)
    await scopes.requireList(exchange, known, 'bindings')
    return known
  }

  /**
   * Returns the reference to a role by its name in the API of KubeSphere.
   *
   * @returns undefined for the role of workspace members without permissions in its namespaces
   * @throws Status 403 if the role is not a preset and the caller may not list roles; 422 if the
   * scope has no such role
   */
  async function resolveRole(
    exchange: AuthenticatedExchange,
    scopeRef: ResolvedScope,
    role: string,
  ): Promise<RoleRef | undefined> {
    const { scope, namespace, workspace } = scopeRef
    const presets = await scopes.presetsAt(scopeRef)
    const preset = presets.find(({ name }) => name === role)
    if (preset !== undefined)
      return preset.clusterRole === undefined ? undefined : { kind: 'ClusterRole', name: preset.clusterRole }
    const named = presets.map(({ name }) => name)
    const source = scope === 'workspace' ? ({ ...scopeRef, scope: 'cluster' } as const) : scopeRef
    await scopes.requireList(exchange, source, 'roles')
    if (scope === 'namespace') {
      if ((await scopes.latest('roles')).get(namespace, role) !== undefined)
        return { kind: 'Role', name: role }
      throw unknownRole(role, named)
    }
    const native = (await scopes.latest('clusterroles')).get('', role)
    const of = native?.meta.labels?.[`${groupDomain}/workspace`]
    const isHere = scope === 'workspace' ? of === workspace : of === undefined
    if (native === undefined || !isHere) throw unknownRole(role, named)
    return { kind: 'ClusterRole', name: role }
  }

  type DesiredRole = {
    readonly subject: Subject
    readonly ref: RoleRef | undefined
    readonly held: readonly AssignedRole[]
  }

  /**
   * Returns the writes that create the missing bindings of a subject for a role. For a member of a
   * workspace, this includes the record of the membership.
   */
  function grantSteps(
    exchange: AuthenticatedExchange,
    scopeRef: ResolvedScope,
    { subject, ref, held }: DesiredRole,
  ): readonly Step[] {
    const { scope, workspace, namespaces } = scopeRef
    const targets = scope === 'cluster' ? [''] : namespaces
    const lacking = (roleRef: RoleRef) => {
      const same = held.filter(({ binding }) => isSameRole(binding.roleRef, roleRef))
      const bound = new Set(same.map(({ binding: { entry } }) => entry.namespace))
      return targets
        .filter(namespace => !bound.has(namespace))
        .map(namespace => ({
          where: namespace === '' ? 'cluster' : namespace,
          run: () => bind(callAs, exchange, { subject, namespace, roleRef, labels: {} }),
        }))
    }
    const bindings = ref === undefined ? [] : lacking(ref)
    if (scope !== 'workspace') return bindings
    const member = { subject, workspace, role: ref?.name }
    const isRequired = ref === undefined || namespaces.length === 0
    return [...bindings, ...records.stepsFor(exchange, member, { held, isRequired })]
  }

  function removalSteps(
    exchange: AuthenticatedExchange,
    subject: Subject,
    held: readonly AssignedRole[],
  ): readonly Step[] {
    return held.map(({ binding: { entry } }) => ({
      where: `${entry.namespace === '' ? 'cluster' : entry.namespace}/${entry.name}`,
      run: () => unbind(callAs, exchange, entry.meta, subject),
    }))
  }

  /**
   * Selects the bindings that grant roles of the scope itself. For a workspace, these exclude roles
   * that were granted in single namespaces.
   */
  async function ownRoles(
    scopeRef: ResolvedScope,
    held: readonly AssignedRole[],
  ): Promise<readonly AssignedRole[]> {
    if (scopeRef.scope !== 'workspace') return held
    const [member] = workspaceRolesOf(held, scopeRef.workspace, scopeRef.namespaces).values()
    const clusterRoles = await scopes.latest('clusterroles')
    return held.filter(({ binding: { roleRef }, recorded }) => {
      if (recorded !== undefined) return true
      if (roleRef.kind !== 'ClusterRole') return false
      const labels = clusterRoles.get('', roleRef.name)?.meta.labels
      return (
        roleRef.name === member?.clusterRole || labels?.[`${groupDomain}/workspace`] === scopeRef.workspace
      )
    })
  }

  /** Selects the bindings that the new role replaces. */
  async function replacedBy(
    scopeRef: ResolvedScope,
    ref: RoleRef | undefined,
    held: readonly AssignedRole[],
  ): Promise<readonly AssignedRole[]> {
    return (await ownRoles(scopeRef, held)).filter(({ binding, recorded }) =>
      recorded === undefined
        ? ref === undefined || !isSameRole(binding.roleRef, ref)
        : recorded.role !== ref?.name,
    )
  }

  /** Returns the bindings in a scope by name, for several users or groups. */
  async function rolesBySubject(scopeRef: ResolvedScope, kind: Subject['kind'], names: ReadonlySet<string>) {
    const all = await scopes.assignedRoles(
      scopeRef,
      subject => subject.kind === kind && names.has(subject.name),
    )
    const held = new Map([...names].map(name => [name, [] as AssignedRole[]]))
    for (const each of all) held.get(each.user)?.push(each)
    return (name: string): readonly AssignedRole[] => held.get(name) ?? []
  }

  return { resolveScope, resolveRole, grantSteps, removalSteps, ownRoles, replacedBy, rolesBySubject }
}

/** Applies changes until the request ends. @throws Status with the list of completed writes */
export function apply(
  { res }: AuthenticatedExchange,
  changes: readonly MemberChange[],
  finished: Progress['finished'],
): Promise<void> {
  return applyChanges(changes, { finished, isOver: () => isOver(res) })
}

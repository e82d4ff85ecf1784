import { isDeepStrictEqual } from 'node:util'
import { isStatus, Status, toStatus } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { isOver } from '../../../../httpserver/response/respond.ts'
import { addWarning } from '../../../../httpserver/response/warning.ts'
import { type ObjectMeta, parseObject } from '../../../../kubeclient/object/object.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'
import { workspacesPath } from '../../../workspaces/template-conversion.ts'
import { type CallAs, withQueryOf } from '../../../write/as-caller.ts'
import { isDryRun } from '../../../write/dry-run.ts'
import { maxWrites, type Step, writeEach } from './member-changes.ts'
import {
  currentRecordRole,
  hasRulesOf,
  type RecordClusterRole,
  type RecordedRole,
  recordedFor,
} from './member-record-role.ts'
import { bind } from './member-writes.ts'
import { type AssignedRole, type Binding, isGroup, isMember, type Subject } from './role-bindings.ts'
import { presetsOf } from './role-presets.ts'

const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

type Roles = { readonly get: (namespace: string, name: string) => CachedObject | undefined }

/** A member whom a record adds to a workspace. */
export type RecordedMember = AssignedRole & {
  readonly kind: Subject['kind']
  readonly recorded: RecordedRole
}

/**
 * Returns the members that ClusterRoleBindings record for a workspace. A ClusterRole with this name
 * but other rules is not a record: anyone may bind an empty role. A binding that the Workspace does
 * not own is not a record either: it belongs to a deleted Workspace with the same name.
 *
 * @param uid of the Workspace; undefined if it does not exist
 */
export function recordsOf(
  bindings: Iterable<Binding>,
  of: { readonly groupDomain: string; readonly workspace: string; readonly uid: string | undefined },
  roles: Roles,
): readonly RecordedMember[] {
  const { groupDomain, workspace, uid } = of
  return [...bindings].flatMap(binding => {
    const { roleRef, subjects } = binding
    const recorded = recordedFor(workspace, roleRef)
    if (recorded === undefined || uid === undefined || !isOwnedBy(binding.entry.meta, uid)) return []
    const found = roles.get('', roleRef.name)?.parsed()
    const role = currentRecordRole(groupDomain, { workspace, role: recorded.role }, roles)
    if (!hasRulesOf(found, role)) return []
    const isOutdated = !isDeepStrictEqual(found?.rules, role.rules)
    return subjects
      .filter(subject => isMember(subject) || isGroup(subject))
      .map(({ kind, name: user }) => ({
        ...{ kind, user, role: roleRef.name, binding },
        recorded: { ...recorded, isOutdated },
      }))
  })
}

function isOwnedBy({ ownerReferences = [] }: Pick<ObjectMeta, 'ownerReferences'>, uid: string): boolean {
  return ownerReferences.some(owner => owner.uid === uid)
}

/** A new namespace. @param isAdmin whether the caller is already bound to `admin` there */
type NewNamespace = {
  readonly workspace: string
  readonly namespace: string
  readonly isAdmin?: boolean
}

export type RecordTools = {
  readonly groupDomain: string
  readonly callAs: CallAs
  readonly scopes: {
    readonly latest: (plural: string) => Promise<Roles>
    readonly recordsAt: (workspace: string) => Promise<readonly RecordedMember[]>
    readonly isBound: (clusterRole: string) => Promise<boolean>
  }
}

type Owner = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

type RecordOf = {
  readonly subject: Subject
  readonly workspace: string
  readonly role: string | undefined
  /** Whether the subject is already bound, and only the ClusterRole is to be updated. */
  readonly isBound?: boolean
}

/** Reads and writes members of workspaces that are stored as records. */
export function createWorkspaceRecords({ groupDomain, callAs, scopes }: RecordTools) {
  /** Returns the owner reference to the Workspace, with which the records are deleted. */
  async function ownerOf(exchange: AuthenticatedExchange, workspace: string): Promise<Owner> {
    const path = `${workspacesPath(groupDomain)}/${encodeURIComponent(workspace)}`
    const {
      apiVersion = '',
      kind = '',
      metadata,
    } = parseObject(JSON.parse((await callAs(exchange, { path })).text))
    return { apiVersion, kind, name: metadata.name, uid: metadata.uid }
  }

  /** @throws Status 409 for a ClusterRole that is not the role of this record */
  function requireRecord(entry: CachedObject, role: RecordClusterRole, { uid }: Owner): void {
    const { meta } = entry
    const name = JSON.stringify(role.name)
    if (!hasRulesOf(entry.parsed(), role))
      throw new Status(409, 'Conflict', `the ClusterRole ${name} has other rules than those that Kapis sets`)
    // The role is about to be deleted with its owner, and the members would be lost.
    if ((meta.ownerReferences ?? []).length > 0 && !isOwnedBy(meta, uid))
      throw new Status(
        409,
        'Conflict',
        `the ClusterRole ${name} belongs to an earlier workspace with the same name, and is about to be deleted; retry later`,
      )
  }

  /**
   * Changes the rules of a record of an earlier release, or of a role whose permissions have
   * changed. Without permission, the members keep the rules that they have.
   */
  async function updateRules(
    exchange: AuthenticatedExchange,
    { meta }: CachedObject,
    { name, rules }: RecordClusterRole,
  ): Promise<void> {
    const { resourceVersion } = meta
    const path = withQueryOf(exchange, `${clusterRoles}/${encodeURIComponent(name)}`)
    const body = { metadata: { resourceVersion }, rules }
    const contentType = 'application/merge-patch+json'
    await callAs(exchange, { method: 'PATCH', path, body, contentType }).catch((error: unknown) => {
      if (!isStatus(error, 403)) throw error
      addWarning(exchange.res, `the rules of the ClusterRole ${name} are unchanged: ${error.message}`)
    })
  }

  /** Creates or updates the ClusterRole of a record if needed. @returns whether it exists */
  async function ensureRole(
    exchange: AuthenticatedExchange,
    role: RecordClusterRole,
    owner: Owner,
  ): Promise<boolean> {
    const { name, rules } = role
    const stored = async () => (await scopes.latest('clusterroles')).get('', name)
    const found = await stored()
    if (found !== undefined) {
      requireRecord(found, role, owner)
      if (!isDeepStrictEqual(found.parsed().rules, rules)) await updateRules(exchange, found, role)
      return true
    }
    // Creating the role would activate bindings whose author may not have its permissions.
    if (await scopes.isBound(name))
      throw new Status(
        409,
        'Conflict',
        `ClusterRoleBindings name the ClusterRole ${JSON.stringify(name)}, which does not exist: delete them first`,
      )
    const labels = { 'app.kubernetes.io/managed-by': 'kapis' }
    const body = {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
      metadata: { name, labels, ownerReferences: [owner] },
      rules,
    }
    try {
      await callAs(exchange, { method: 'POST', path: withQueryOf(exchange, clusterRoles), body })
    } catch (error) {
      if (!(error instanceof Status && error.reason === 'AlreadyExists')) throw error
      const other = await stored()
      if (other !== undefined) requireRecord(other, role, owner)
    }
    return !isDryRun(exchange)
  }

  async function write(
    exchange: AuthenticatedExchange,
    { subject, workspace, role, isBound = false }: RecordOf,
  ): Promise<void> {
    const roles = await scopes.latest('clusterroles')
    const recorded = currentRecordRole(groupDomain, { workspace, role }, roles)
    const owner = await ownerOf(exchange, workspace)
    if (!(await ensureRole(exchange, recorded, owner)) || isBound) return
    const labels = { [`${groupDomain}/workspace`]: workspace }
    const roleRef = { kind: 'ClusterRole', name: recorded.name }
    await bind(callAs, exchange, { subject, namespace: '', roleRef, labels, owner })
  }

  /**
   * Returns a function that checks whether a ClusterRole is still a role of the workspace. Records
   * may outlive the label or the role.
   */
  async function isRoleOf(workspace: string): Promise<(clusterRole: string) => boolean> {
    const roles = await scopes.latest('clusterroles')
    const presets = presetsOf('workspace', workspace)
    return name =>
      presets.some(({ clusterRole }) => clusterRole === name) ||
      roles.get('', name)?.meta.labels?.[`${groupDomain}/workspace`] === workspace
  }

  async function giveAll(
    exchange: AuthenticatedExchange,
    { workspace, namespace, isAdmin = false }: NewNamespace,
  ): Promise<{ readonly missing: number; readonly all: number }> {
    const isDone = ({ kind, name }: Subject, role: string) =>
      isAdmin && kind === 'User' && name === exchange.identity.username && role === 'admin'
    const members = (await scopes.recordsAt(workspace)).flatMap(({ kind, user: name, recorded: { role } }) =>
      role === undefined || isDone({ kind, name }, role) ? [] : [{ subject: { kind, name }, role }],
    )
    const isHere = await isRoleOf(workspace)
    const granted = members.filter(({ role }) => isHere(role)).slice(0, maxWrites)
    const own = { ...exchange, rawQuery: '' }
    const failed = await writeEach(granted, {
      write: ({ subject, role: name }) =>
        bind(callAs, own, { subject, namespace, roleRef: { kind: 'ClusterRole', name }, labels: {} }),
      isOver: () => isOver(exchange.res),
    })
    return { missing: members.length - granted.length + failed.length, all: members.length }
  }

  return {
    /**
     * Returns the write that stores a member, or updates its record; none if the member is already
     * stored.
     *
     * @param isRequired if false, a member who cannot be stored gets the role only in the existing
     * namespaces, with a warning
     */
    stepsFor(
      exchange: AuthenticatedExchange,
      member: RecordOf,
      { held, isRequired }: { readonly held: readonly AssignedRole[]; readonly isRequired: boolean },
    ): readonly Step[] {
      const stored = held.find(({ recorded }) => recorded !== undefined && recorded.role === member.role)
      if (stored !== undefined && stored.recorded?.isOutdated !== true) return []
      const run = () =>
        write(exchange, { ...member, isBound: stored !== undefined }).catch((error: unknown) => {
          const isRejected = error instanceof Status && [403, 404].includes(error.code)
          if (isRequired || !isRejected) throw error
          addWarning(exchange.res, `${member.subject.name} has no role in later namespaces: ${error.message}`)
        })
      return [{ where: `workspace ${member.workspace}`, run }]
    },
    /**
     * Makes the manager of a new workspace a member with the role `{workspace}-admin`, as its
     * creator. A failure results in a warning, since the workspace already exists.
     */
    async addManager(
      exchange: AuthenticatedExchange,
      { workspace, manager }: { readonly workspace: string; readonly manager: string },
    ): Promise<void> {
      const [admin] = presetsOf('workspace', workspace)
      const member = {
        subject: { kind: 'User', name: manager },
        workspace,
        role: admin?.clusterRole,
      } as const
      await write(exchange, member).catch((error: unknown) =>
        addWarning(
          exchange.res,
          `the manager ${JSON.stringify(manager)} has no role in the workspace: ${toStatus(error).message}`,
        ),
      )
    },
    /**
     * Grants the stored members of a workspace their roles in a new namespace, as the caller.
     * Failures result in a warning with the number of members without a role, since the namespace
     * already exists.
     */
    async giveIn(exchange: AuthenticatedExchange, where: NewNamespace): Promise<void> {
      const warn = (member: string) =>
        addWarning(exchange.res, `${member} have no role in the namespace: add them again`)
      try {
        const { missing, all } = await giveAll(exchange, where)
        if (missing > 0) warn(`${missing} of ${all} members of the workspace`)
      } catch (error) {
        warn(`members of the workspace (${toStatus(error).message})`)
      }
    },
  }
}

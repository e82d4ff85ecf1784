import { isDeepStrictEqual } from 'node:util'
import { Status } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { addWarning } from '../../../../httpserver/warning.ts'
import { parseObject } from '../../../../kubeclient/object.ts'
import type { Entry } from '../../../../resourcecache/store/cached-object.ts'
import { type CallAs, withQueryOf } from '../../../as-caller.ts'
import { isDryRun } from '../../../dry-run.ts'
import { workspacesPath } from '../../../workspaces/template.ts'
import { mostWrites, type Step } from './member-changes.ts'
import { bind } from './member-writes.ts'
import { isRecordRole, type Recorded, recordedFor, recordRole } from './record-role.ts'
import { type Binding, type Held, isMember } from './role-bindings.ts'

const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

type Roles = { readonly get: (namespace: string, name: string) => Entry | undefined }

/** A member of a workspace by a record. */
export type RecordedMember = Held & { readonly recorded: Recorded }

/**
 * The members that ClusterRoleBindings record for a workspace. A ClusterRole of the name with other
 * rules is no record: anyone may bind an empty one.
 */
export function recordsOf(
  bindings: Iterable<Binding>,
  { groupDomain, workspace }: { readonly groupDomain: string; readonly workspace: string },
  roles: Roles,
): readonly RecordedMember[] {
  return [...bindings].flatMap(binding => {
    const { roleRef, subjects } = binding
    const recorded = recordedFor(workspace, roleRef)
    if (recorded === undefined) return []
    const { rules } = recordRole(groupDomain, workspace, recorded.role)
    if (!isDeepStrictEqual(roles.get('', roleRef.name)?.parsed().rules, rules)) return []
    return subjects
      .filter(isMember)
      .map(({ name: user }) => ({ user, role: roleRef.name, binding, recorded }))
  })
}

export type RecordTools = {
  readonly groupDomain: string
  readonly callAs: CallAs
  readonly places: {
    readonly latest: (plural: string) => Promise<Roles>
    readonly recordsAt: (workspace: string) => Promise<readonly RecordedMember[]>
  }
}

/** Members of workspaces that are stored on their own, and not in the namespaces of the workspace. */
export function createWorkspaceRecords({ groupDomain, callAs, places }: RecordTools) {
  /** The Workspace owns its records, so that kube-apiserver removes them with it. */
  async function ownerOf(exchange: AuthenticatedExchange, workspace: string): Promise<object> {
    const path = `${workspacesPath(groupDomain)}/${encodeURIComponent(workspace)}`
    const { apiVersion, kind, metadata } = parseObject(JSON.parse((await callAs(exchange, { path })).text))
    return { apiVersion, kind, name: metadata.name, uid: metadata.uid }
  }

  async function write(
    exchange: AuthenticatedExchange,
    { user, workspace, role }: { user: string; workspace: string; role: string | undefined },
  ): Promise<void> {
    const { name, rules } = recordRole(groupDomain, workspace, role)
    const owner = await ownerOf(exchange, workspace)
    const stored = (await places.latest('clusterroles')).get('', name)?.parsed()
    if (stored !== undefined && !isDeepStrictEqual(stored.rules, rules))
      throw new Status(
        409,
        'Conflict',
        `the ClusterRole ${JSON.stringify(name)} has other rules than Kapis gives it`,
      )
    if (stored === undefined) {
      const labels = { 'app.kubernetes.io/managed-by': 'kapis' }
      const body = {
        ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
        metadata: { name, labels, ownerReferences: [owner] },
        rules,
      }
      await callAs(exchange, { method: 'POST', path: withQueryOf(exchange, clusterRoles), body }).catch(
        (error: unknown) => {
          if (!(error instanceof Status && error.reason === 'AlreadyExists')) throw error
        },
      )
      // A dry run has made no role that could be bound.
      if (isDryRun(exchange)) return
    }
    const labels = { [`${groupDomain}/workspace`]: workspace }
    const roleRef = { kind: 'ClusterRole', name }
    await bind(callAs, exchange, { user, namespace: '', roleRef, labels, owner })
  }

  return {
    /**
     * The write that stores a member; none if the member is stored.
     *
     * @param isRequired if false, a member who cannot be stored is one in the namespaces that there
     *   are, with a warning
     */
    stepsFor(
      exchange: AuthenticatedExchange,
      member: { readonly user: string; readonly workspace: string; readonly role: string | undefined },
      { held, isRequired }: { readonly held: readonly Held[]; readonly isRequired: boolean },
    ): readonly Step[] {
      const { name } = recordRole(groupDomain, member.workspace, member.role)
      if (held.some(({ binding: { roleRef } }) => isRecordRole(roleRef) && roleRef.name === name)) return []
      const run = () =>
        write(exchange, member).catch((error: unknown) => {
          const isRefused = error instanceof Status && [403, 404].includes(error.code)
          if (isRequired || !isRefused) throw error
          addWarning(exchange.res, `${member.user} has no role in later namespaces: ${error.message}`)
        })
      return [{ where: `workspace ${member.workspace}`, run }]
    },
    /**
     * Gives the stored members of a workspace their roles in a new namespace, as the caller, who
     * learns how many were not given.
     */
    async giveIn(
      exchange: AuthenticatedExchange,
      { workspace, namespace }: { readonly workspace: string; readonly namespace: string },
    ): Promise<void> {
      const records = (await places.recordsAt(workspace)).filter(
        ({ recorded }) => recorded.role !== undefined,
      )
      let refused = Math.max(0, records.length - mostWrites)
      for (const { user, recorded } of records.slice(0, mostWrites)) {
        const roleRef = { kind: 'ClusterRole', name: recorded.role ?? '' }
        await bind(callAs, { ...exchange, rawQuery: '' }, { user, namespace, roleRef, labels: {} }).catch(
          () => refused++,
        )
      }
      if (refused > 0)
        addWarning(
          exchange.res,
          `${refused} of ${records.length} members of the workspace have no role in the namespace: add them again`,
        )
    },
  }
}

export type WorkspaceRecords = ReturnType<typeof createWorkspaceRecords>

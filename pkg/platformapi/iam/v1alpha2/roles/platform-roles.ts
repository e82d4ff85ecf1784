import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { addWarning } from '../../../../httpserver/response/warning.ts'
import type { User } from '../../../../iam/users/user.ts'
import { invalidUser, type UserDraft } from '../../../../iam/users/user-draft.ts'
import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import type { CallAs } from '../../../write/as-caller.ts'
import { bind, unbind } from './member-writes.ts'
import type { RoleRef } from './role-bindings.ts'
import { presetsOf } from './role-presets.ts'
import { rbacGroup, type ScopeReader } from './role-reader.ts'
import { labelsOf } from './role-writes.ts'

type UserNames = Pick<User, 'name' | 'groups'>

/** The platform roles of all users, computed from one state of the bindings. */
export type KnownPlatformRoles = {
  /** Changes whenever a role may have changed. */
  readonly version: string
  readonly of: (user: UserNames) => string
}

export type PlatformRoles = {
  readonly read: () => Promise<KnownPlatformRoles>
  /** Reads the platform roles, if the caller may list bindings. @throws Status 503 */
  readonly readFor: (exchange: AuthenticatedExchange) => Promise<KnownPlatformRoles | undefined>
  /** @throws Status 403 for callers who may not list bindings, 503 */
  readonly requireRead: (exchange: AuthenticatedExchange) => Promise<void>
  /**
   * Checks that the caller may replace the platform role that a binding gives the user directly, and
   * not through a group.
   *
   * @returns a function that writes the bindings as the caller
   * @throws Status 403, 422 for an unknown role, 503
   */
  readonly prepare: (
    exchange: AuthenticatedExchange,
    user: UserNames,
    wish: { readonly role: string; readonly isNewUser: boolean },
  ) => Promise<() => Promise<void>>
}

const scopeRef = { scope: 'global', namespace: '', workspace: '', namespaces: [] } as const
/** The role of every authenticated user. */
const regular = 'platform-regular'

/** The annotation in which consoles of KubeSphere 3.4 read and set the platform role of a user. */
export function platformRoleAnnotation(groupDomain: string): string {
  return `iam.${groupDomain}/globalrole`
}

/** Splits a draft into the user, and the requested platform role, which is not stored. */
export function takePlatformRole(
  draft: UserDraft,
  groupDomain: string,
): { readonly draft: UserDraft; readonly role: string } {
  const { [platformRoleAnnotation(groupDomain)]: role = '', ...annotations } = draft.annotations
  return { draft: { ...draft, annotations }, role }
}

/** Removes the annotation of the platform role, since only bindings grant a role. */
export function withoutPlatformRole(user: KubeObject, groupDomain: string): KubeObject {
  const { annotations, ...metadata } = user.metadata
  if (annotations === undefined) return user
  const { [platformRoleAnnotation(groupDomain)]: _, ...others } = annotations
  return { ...user, metadata: { ...metadata, annotations: others } }
}

/**
 * Reads and writes platform roles of users. The platform role is the strongest one that
 * ClusterRoleBindings grant by name or by a group, and platform-regular without any.
 */
export function createPlatformRoles(tools: {
  readonly groupDomain: string
  readonly scopes: Pick<ScopeReader, 'latest' | 'assignedRoles' | 'rolesAt' | 'requireList' | 'mayList'>
  readonly callAs: CallAs
}): PlatformRoles {
  const { groupDomain, scopes, callAs } = tools
  let known: KnownPlatformRoles | undefined

  async function read(): Promise<KnownPlatformRoles> {
    const [bindings, roles] = [
      await scopes.latest('clusterrolebindings'),
      await scopes.latest('clusterroles'),
    ]
    const version = `${bindings.version} ${roles.version}`
    if (known?.version === version) return known
    const [ofUsers, ofGroups] = [await rolesBySubject('User'), await rolesBySubject('Group')]
    known = {
      version,
      of: ({ name, groups }) =>
        strongest([...(ofUsers.get(name) ?? []), ...groups.flatMap(group => ofGroups.get(group) ?? [])]),
    }
    return known
  }

  async function rolesBySubject(kind: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const bySubject = new Map<string, string[]>()
    for (const { user, role } of await scopes.assignedRoles(scopeRef, subject => subject.kind === kind)) {
      const roles = bySubject.get(user) ?? []
      roles.push(role)
      bySubject.set(user, roles)
    }
    return bySubject
  }

  async function refOf(exchange: AuthenticatedExchange, user: string, role: string): Promise<RoleRef> {
    const presets = presetsOf('global')
    const preset = presets.find(({ name }) => name === role)
    if (preset?.clusterRole !== undefined) return { kind: 'ClusterRole', name: preset.clusterRole }
    await scopes.requireList(exchange, scopeRef, 'roles')
    const roles = await scopes.rolesAt(scopeRef, true)
    const found = roles.find(each => each.role.metadata.name === role)?.ref
    if (found !== undefined) return found
    const message = `unknown role ${JSON.stringify(role)}; supported: ${roles.map(each => each.role.metadata.name).join(', ')}`
    const field = `metadata.annotations[${platformRoleAnnotation(groupDomain)}]`
    throw invalidUser(groupDomain, user, [{ reason: 'FieldValueNotFound', message, field }])
  }

  return {
    read,
    readFor: async exchange =>
      (await scopes.mayList(exchange, rbacGroup, 'clusterrolebindings')) ? read() : undefined,
    requireRead: exchange => scopes.requireList(exchange, scopeRef, 'bindings'),
    async prepare(exchange, { name, groups }, { role, isNewUser }) {
      const roleRef = await refOf(exchange, name, role)
      if (!isNewUser) await scopes.requireList(exchange, scopeRef, 'bindings')
      const held = isNewUser
        ? []
        : await scopes.assignedRoles(scopeRef, subject => subject.kind === 'User' && subject.name === name)
      const isHeld = role === regular || held.some(each => each.role === role)
      const subject = { kind: 'User', name }
      const binding = { subject, namespace: '', roleRef, labels: labelsOf(groupDomain, scopeRef) }
      // A dry run before the user is written: kube-apiserver rejects roles that the caller may not
      // grant.
      if (!isHeld) await bind(callAs, { ...exchange, rawQuery: 'dryRun=All' }, binding)
      return async () => {
        const own = { ...exchange, rawQuery: '' }
        if (!isHeld) await bind(callAs, own, binding)
        for (const each of held)
          if (each.role !== role) await unbind(callAs, own, each.binding.entry.meta, subject)
        const byGroup = (await read()).of({ name: '', groups })
        if (byGroup !== regular && byGroup !== role)
          addWarning(exchange.res, `the user keeps the platform role ${byGroup} of a group`)
      }
    },
  }
}

function strongest(roles: readonly string[]): string {
  const presets = presetsOf('global').map(({ name }) => name)
  const rank = (role: string) => (role === regular ? 2 : presets.includes(role) ? 0 : 1)
  const [first = regular] = [...roles].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  return first
}

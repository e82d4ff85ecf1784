import type { ListQuery } from '../../../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { toUser } from '../../../../iam/users/user.ts'
import { parseObject } from '../../../../kubeclient/object/object.ts'
import type { ListRestriction } from '../../../../resourcecache/list/list-predicate.ts'
import { type MemberScope, memberKinds, rolesByMember } from '../roles/members.ts'
import type { PlatformRoles } from '../roles/platform-roles.ts'
import { isMember } from '../roles/role-bindings.ts'
import type { ScopeReader } from '../roles/role-reader.ts'

/** The filters by scope, in order of precedence. */
const scopeFilters: readonly (readonly [filter: string, scope: MemberScope])[] = [
  ['namespace', 'namespace'],
  ['workspace', 'workspace'],
  ['cluster', 'cluster'],
]

export type UserFilterTools = {
  readonly scopes: Pick<ScopeReader, 'resolve' | 'visibleRoles' | 'requireList'>
  readonly platformRoles: Pick<PlatformRoles, 'read'>
}

/**
 * Applies the filters of users by role: `globalrole`; or `namespace`, `workspace` or
 * `cluster=true`, with `role`, `workspacerole` or `clusterrole` respectively. Only the first of
 * these filters applies.
 *
 * @returns the query without these filters, and the restriction to the selected users; undefined
 * without such a filter
 * @throws Status 403 for a caller who may not list the bindings
 */
export function narrowUsers(
  { scopes, platformRoles }: UserFilterTools,
  exchange: AuthenticatedExchange,
  query: ListQuery,
): Promise<{ query: ListQuery; narrowing: ListRestriction }> | undefined {
  const { filters } = query
  const without = (...names: readonly string[]) => ({
    ...query,
    filters: new Map([...filters].filter(([name]) => !names.includes(name))),
  })

  async function ofPlace(filter: string, scope: MemberScope) {
    const name = filters.get(filter) ?? ''
    const known = await scopes.resolve({
      scope,
      namespace: scope === 'namespace' ? name : '',
      workspace: scope === 'workspace' ? name : '',
    })
    await scopes.requireList(exchange, known, 'bindings')
    const { role: roleFilter } = memberKinds[scope]
    const role = filters.get(roleFilter)
    const roles = rolesByMember(await scopes.visibleRoles(exchange, known, isMember), known, known.namespaces)
    const names = new Set(
      [...roles]
        .filter(([, held]) => role === undefined || held.split(',').includes(role))
        .map(([user]) => user),
    )
    const narrowing = { key: JSON.stringify([...names].sort()), matches: isNamed(names) }
    return { query: without(filter, roleFilter), narrowing }
  }

  async function ofPlatform(role: string) {
    const scopeRef = { scope: 'global', namespace: '', workspace: '', namespaces: [] } as const
    await scopes.requireList(exchange, scopeRef, 'bindings')
    const roles = await platformRoles.read()
    const narrowing: ListRestriction = {
      key: JSON.stringify(['globalrole', role, roles.version]),
      matches: entry => roles.of(toUser(parseObject(entry.parsed()))) === role,
    }
    return { query: without('globalrole'), narrowing }
  }

  const scope = scopeFilters.find(([filter]) =>
    filter === 'cluster' ? filters.get(filter) === 'true' : filters.has(filter),
  )
  if (scope !== undefined) return ofPlace(...scope)
  const role = filters.get('globalrole')
  return role === undefined ? undefined : ofPlatform(role)
}

function isNamed(names: ReadonlySet<string>): ListRestriction['matches'] {
  return ({ name }) => names.has(name)
}

import { badRequest, methodNotAllowed, notFound } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../../../apirequest/request-context.ts'
import { isOver, sendJson } from '../../../../httpserver/respond.ts'
import type { CallAs } from '../../../as-caller.ts'
import { readJson } from '../../../body.ts'
import { readDeleteOptions } from '../../../delete-options.ts'
import { isDryRun } from '../../../dry-run.ts'
import { applyChanges, type MemberChange, type Progress, type Step } from './member-changes.ts'
import {
  bind,
  type Member,
  parseMember,
  parseMembers,
  placeText,
  unbind,
  unknownRole,
} from './member-writes.ts'
import { type MemberScope, memberKinds, memberTraits, rolesByMember, toMembers } from './members.ts'
import {
  type Held,
  isMember,
  isSameRole,
  type Place,
  type RoleRef,
  workspaceRolesOf,
} from './role-bindings.ts'
import type { ResolvedScope, ScopeReader } from './scope-reader.ts'
import { createWorkspaceRecords } from './workspace-records.ts'

export type MemberPlace = Place & { readonly scope: MemberScope }

type KnownMemberPlace = ResolvedScope & { readonly scope: MemberScope }

export type MemberTools = {
  readonly groupDomain: string
  readonly callAs: CallAs
  readonly audit: (exchange: AuthenticatedExchange, action: string, user: string) => void
}

type PlaceOf = (parts: readonly string[]) => MemberPlace

/**
 * The members of a namespace, a workspace or the cluster: the users with a role there. Callers must
 * be allowed to list the bindings there; bindings are written as the caller.
 */
export function createMemberHandlers(tools: MemberTools, places: ScopeReader) {
  const { groupDomain, callAs } = tools
  const iam = `iam.${groupDomain}`
  const records = createWorkspaceRecords({ groupDomain, callAs, places })

  async function knowMembers(exchange: AuthenticatedExchange, place: MemberPlace): Promise<KnownMemberPlace> {
    const known = { ...(await places.know(place)), scope: place.scope }
    await places.requireList(exchange, known, 'bindings')
    return known
  }

  async function showMembers(exchange: AuthenticatedExchange, place: MemberPlace, name = ''): Promise<void> {
    requireMethod(exchange, ['GET', 'HEAD', ...(name === '' ? ['POST'] : ['PUT', 'DELETE'])])
    const known = await knowMembers(exchange, place)
    const held = await places.heldFor(exchange, known, isMember)
    const roles = rolesByMember(held, known, known.namespaces)
    // Bindings only contain the names of users.
    const users = (await places.mayList(exchange, iam, 'users')) ? await places.latest('users') : undefined
    const items = toMembers(roles, { groupDomain, scope: place.scope }, user => users?.get('', user))
    const { plural } = memberKinds[place.scope]
    const info = places.viewInfo(exchange, plural, name)
    const what = {
      plural,
      kind: 'User',
      namespaced: false,
      group: iam,
      version: 'v1alpha2',
      traits: memberTraits(groupDomain, place.scope),
    }
    await places.show({ ...exchange, info }, what, items)
  }

  /**
   * @returns undefined for a member of a workspace without a role in its namespaces
   * @throws Status 403 for a role of another name, by a caller who may not list roles; 422 for one
   * that the place does not have
   */
  async function resolve(
    exchange: AuthenticatedExchange,
    place: KnownMemberPlace,
    role: string,
  ): Promise<RoleRef | undefined> {
    const { scope, namespace, workspace } = place
    const presets = await places.presetsAt(place)
    const preset = presets.find(({ name }) => name === role)
    if (preset !== undefined)
      return preset.clusterRole === undefined ? undefined : { kind: 'ClusterRole', name: preset.clusterRole }
    const named = presets.map(({ name }) => name)
    const source = scope === 'workspace' ? ({ ...place, scope: 'cluster' } as const) : place
    await places.requireList(exchange, source, 'roles')
    if (scope === 'namespace') {
      if ((await places.latest('roles')).get(namespace, role) !== undefined)
        return { kind: 'Role', name: role }
      throw unknownRole(role, named)
    }
    const native = (await places.latest('clusterroles')).get('', role)
    const of = native?.meta.labels?.[`${groupDomain}/workspace`]
    const isHere = scope === 'workspace' ? of === workspace : of === undefined
    if (native === undefined || !isHere) throw unknownRole(role, named)
    return { kind: 'ClusterRole', name: role }
  }

  type Wanted = {
    readonly user: string
    readonly ref: RoleRef | undefined
    readonly held: readonly Held[]
  }

  /**
   * The bindings that a user lacks for a role; for a member of a workspace also the record of the
   * membership.
   */
  function givenBy(
    exchange: AuthenticatedExchange,
    place: KnownMemberPlace,
    { user, ref, held }: Wanted,
  ): readonly Step[] {
    const { scope, workspace, namespaces } = place
    const targets = scope === 'cluster' ? [''] : namespaces
    const lacking = (roleRef: RoleRef) => {
      const same = held.filter(({ binding }) => isSameRole(binding.roleRef, roleRef))
      const bound = new Set(same.map(({ binding: { entry } }) => entry.namespace))
      return targets
        .filter(namespace => !bound.has(namespace))
        .map(namespace => ({
          where: namespace === '' ? 'cluster' : namespace,
          run: () => bind(callAs, exchange, { user, namespace, roleRef, labels: {} }),
        }))
    }
    const bindings = ref === undefined ? [] : lacking(ref)
    if (scope !== 'workspace') return bindings
    const member = { user, workspace, role: ref?.name }
    const isRequired = ref === undefined || namespaces.length === 0
    return [...bindings, ...records.stepsFor(exchange, member, { held, isRequired })]
  }

  function takenFrom(exchange: AuthenticatedExchange, user: string, held: readonly Held[]): readonly Step[] {
    return held.map(({ binding: { entry } }) => ({
      where: `${entry.namespace === '' ? 'cluster' : entry.namespace}/${entry.name}`,
      run: () => unbind(callAs, exchange, entry.meta, user),
    }))
  }

  /**
   * The roles that a new role replaces: all roles there; for a workspace its own roles, not those
   * of single namespaces.
   */
  async function replacedBy(
    place: KnownMemberPlace,
    ref: RoleRef | undefined,
    held: readonly Held[],
  ): Promise<readonly Held[]> {
    const others = held.filter(({ binding }) => ref === undefined || !isSameRole(binding.roleRef, ref))
    if (place.scope !== 'workspace') return others
    const [member] = workspaceRolesOf(held, place.workspace, place.namespaces).values()
    const clusterRoles = await places.latest('clusterroles')
    return others.filter(({ binding: { roleRef }, recorded }) => {
      if (recorded !== undefined) return recorded.role !== ref?.name
      if (roleRef.kind !== 'ClusterRole') return false
      const labels = clusterRoles.get('', roleRef.name)?.meta.labels
      return roleRef.name === member?.clusterRole || labels?.[`${groupDomain}/workspace`] === place.workspace
    })
  }

  async function heldByUsers(place: KnownMemberPlace, users: ReadonlySet<string>) {
    const all = await places.heldAt(place, ({ kind, name }) => kind === 'User' && users.has(name))
    const held = new Map([...users].map(user => [user, [] as Held[]]))
    for (const each of all) held.get(each.user)?.push(each)
    return (user: string): readonly Held[] => held.get(user) ?? []
  }

  async function addMembers(exchange: AuthenticatedExchange, place: MemberPlace): Promise<void> {
    const isTried = isDryRun(exchange)
    const members = parseMembers(await readJson(exchange.req, ['application/json']))
    // Only callers who may list bindings may learn which role a user already has.
    const known = await knowMembers(exchange, place)
    const refs = await Promise.all(members.map(({ roleRef }) => resolve(exchange, known, roleRef)))
    const held = await heldByUsers(known, new Set(members.map(({ username }) => username)))
    const changes = refs.map((ref, i) => {
      const user = members[i]?.username ?? ''
      return { user, steps: givenBy(exchange, known, { user, ref, held: held(user) }) }
    })
    await apply(exchange, changes, ({ user }, i) => {
      if (!isTried) tools.audit(exchange, `give ${members[i]?.roleRef} in ${placeText(place)}`, user)
    })
    sendJson(exchange.res, 200, members)
  }

  async function changeMember(exchange: AuthenticatedExchange, place: MemberPlace, name: string) {
    const isTried = isDryRun(exchange)
    const member: Member = parseMember(await readJson(exchange.req, ['application/json']))
    if (member.username !== name)
      throw badRequest(`username must be the name in the path, ${JSON.stringify(name)}`)
    const known = await knowMembers(exchange, place)
    const ref = await resolve(exchange, known, member.roleRef)
    const held = (await heldByUsers(known, new Set([name])))(name)
    // The new binding first: if it is rejected, the user keeps the old role.
    const given = givenBy(exchange, known, { user: name, ref, held })
    const taken = takenFrom(exchange, name, await replacedBy(known, ref, held))
    await apply(exchange, [{ user: name, steps: [...given, ...taken] }], () => {
      if (!isTried) tools.audit(exchange, `give ${member.roleRef} in ${placeText(place)}`, name)
    })
    sendJson(exchange.res, 200, member)
  }

  async function removeMember(exchange: AuthenticatedExchange, place: MemberPlace, name: string) {
    const isTried = isDryRun(exchange)
    const given = await readDeleteOptions(exchange.req)
    if (given?.isDryRun === true) throw badRequest('dryRun must be a query parameter here: ?dryRun=All')
    if (given?.options.preconditions !== undefined)
      throw badRequest('invalid preconditions: a member has no uid and no resourceVersion')
    const known = await knowMembers(exchange, place)
    const held = await places.heldAt(known, subject => isMember(subject) && subject.name === name)
    if (held.length === 0) throw notFound({ group: '', resource: memberKinds[place.scope].plural }, name)
    await apply(exchange, [{ user: name, steps: takenFrom(exchange, name, held) }], () => {
      if (!isTried) tools.audit(exchange, `remove from ${placeText(place)}`, name)
    })
    sendJson(exchange.res, 200, { message: 'success' })
  }

  return {
    members(placeOf: PlaceOf): Handler {
      return exchange => {
        const place = placeOf(exchange.info.parts)
        return exchange.req.method === 'POST' ? addMembers(exchange, place) : showMembers(exchange, place)
      }
    },
    member(placeOf: PlaceOf): Handler {
      return exchange => {
        const place = placeOf(exchange.info.parts)
        const name = exchange.info.parts.at(-1) ?? ''
        const { method = '' } = exchange.req
        if (method === 'PUT') return changeMember(exchange, place, name)
        return method === 'DELETE' ? removeMember(exchange, place, name) : showMembers(exchange, place, name)
      }
    },
  }
}

/** @throws Status 405 */
export function requireMethod({ req }: AuthenticatedExchange, allowed: readonly string[]): void {
  if (!allowed.includes(req.method ?? '')) throw methodNotAllowed(allowed)
}

function apply(
  { res }: AuthenticatedExchange,
  changes: readonly MemberChange[],
  finished: Progress['finished'],
): Promise<void> {
  return applyChanges(changes, { finished, isOver: () => isOver(res) })
}

import { badRequest, methodNotAllowed, notFound } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import type { CallAs } from '../../../write/as-caller.ts'
import { readDeleteOptions } from '../../../write/delete-options.ts'
import { isDryRun } from '../../../write/dry-run.ts'
import { readJson } from '../../../write/json-body.ts'
import type { MemberChange } from './member-changes.ts'
import { apply, createMemberGrants } from './member-grants.ts'
import { type Member, parseMember, parseMembers, scopeText } from './member-writes.ts'
import { type MemberScope, memberKindOptions, memberKinds, rolesByMember, toMembers } from './members.ts'
import { type AssignedRole, isMember, type RoleRef, type ScopeRef, type Subject } from './role-bindings.ts'
import type { ResolvedScope, ScopeReader } from './role-reader.ts'

export type MemberScopeRef = ScopeRef & { readonly scope: MemberScope }

export type MemberTools = {
  readonly groupDomain: string
  readonly callAs: CallAs
  readonly audit: (exchange: AuthenticatedExchange, action: string, user: string) => void
}

type ScopeRefOf = (parts: readonly string[]) => MemberScopeRef

/**
 * Creates the handlers for members of a namespace, a workspace or the cluster: the users with a
 * role in this scope. Callers must be allowed to list its bindings; bindings are written as the
 * caller.
 */
export function createMemberHandlers(tools: MemberTools, scopes: ScopeReader) {
  const { groupDomain } = tools
  const iam = `iam.${groupDomain}`
  const { resolveScope, resolveRole, grantSteps, removalSteps, replacedBy, rolesBySubject } =
    createMemberGrants(tools, scopes)

  async function showMembers(
    exchange: AuthenticatedExchange,
    scopeRef: MemberScopeRef,
    name = '',
  ): Promise<void> {
    requireMethod(exchange, ['GET', 'HEAD', ...(name === '' ? ['POST'] : ['PUT', 'DELETE'])])
    const known = await resolveScope(exchange, scopeRef)
    const held = await scopes.visibleRoles(exchange, known, isMember)
    const roles = rolesByMember(held, known, known.namespaces)
    // Without permission to list users, members have only the names that bindings contain.
    const users = (await scopes.mayList(exchange, iam, 'users')) ? await scopes.latest('users') : undefined
    const items = toMembers(roles, { groupDomain, scope: scopeRef.scope }, user => users?.get('', user))
    const { plural } = memberKinds[scopeRef.scope]
    const info = scopes.viewInfo(exchange, plural, name)
    const what = {
      plural,
      kind: 'User',
      namespaced: false,
      group: iam,
      version: 'v1alpha2',
      traits: memberKindOptions(groupDomain, scopeRef.scope),
    }
    await scopes.show({ ...exchange, info }, what, items)
  }

  /** Returns the writes that give a user a role in place of those in the scope. */
  async function changeTo(
    exchange: AuthenticatedExchange,
    known: ResolvedScope,
    {
      user,
      ref,
      held,
    }: { readonly user: string; readonly ref: RoleRef | undefined; readonly held: readonly AssignedRole[] },
  ): Promise<MemberChange> {
    // Writes the new binding first: if it is rejected, the user keeps the old role.
    const grants = grantSteps(exchange, known, { subject: userNamed(user), ref, held })
    const taken = removalSteps(exchange, userNamed(user), await replacedBy(known, ref, held))
    return { user, steps: [...grants, ...taken] }
  }

  async function addMembers(exchange: AuthenticatedExchange, scopeRef: MemberScopeRef): Promise<void> {
    const isTried = isDryRun(exchange)
    const members = parseMembers(await readJson(exchange.req, ['application/json']))
    // Only callers who may list bindings may learn which role a user already has.
    const known = await resolveScope(exchange, scopeRef)
    const refs = await Promise.all(members.map(({ roleRef }) => resolveRole(exchange, known, roleRef)))
    const held = await rolesBySubject(known, 'User', new Set(members.map(({ username }) => username)))
    const changes = await Promise.all(
      refs.map((ref, i) => {
        const user = members[i]?.username ?? ''
        return changeTo(exchange, known, { user, ref, held: held(user) })
      }),
    )
    await apply(exchange, changes, ({ user }, i) => {
      if (!isTried) tools.audit(exchange, `grant ${members[i]?.roleRef} in ${scopeText(scopeRef)}`, user)
    })
    sendJson(exchange.res, 200, members)
  }

  async function changeMember(exchange: AuthenticatedExchange, scopeRef: MemberScopeRef, name: string) {
    const isTried = isDryRun(exchange)
    const member: Member = parseMember(await readJson(exchange.req, ['application/json']))
    if (member.username !== name)
      throw badRequest(`username must be the name in the path, ${JSON.stringify(name)}`)
    const known = await resolveScope(exchange, scopeRef)
    const ref = await resolveRole(exchange, known, member.roleRef)
    const held = (await rolesBySubject(known, 'User', new Set([name])))(name)
    await apply(exchange, [await changeTo(exchange, known, { user: name, ref, held })], () => {
      if (!isTried) tools.audit(exchange, `grant ${member.roleRef} in ${scopeText(scopeRef)}`, name)
    })
    sendJson(exchange.res, 200, member)
  }

  async function removeMember(exchange: AuthenticatedExchange, scopeRef: MemberScopeRef, name: string) {
    const isTried = isDryRun(exchange)
    const deleteOptions = await readDeleteOptions(exchange.req)
    if (deleteOptions?.isDryRun === true)
      throw badRequest('dryRun must be a query parameter here: ?dryRun=All')
    if (deleteOptions?.options.preconditions !== undefined)
      throw badRequest('invalid preconditions: a member has no uid and no resourceVersion')
    const known = await resolveScope(exchange, scopeRef)
    const held = await scopes.assignedRoles(known, subject => isMember(subject) && subject.name === name)
    if (held.length === 0) throw notFound({ group: '', resource: memberKinds[scopeRef.scope].plural }, name)
    await apply(exchange, [{ user: name, steps: removalSteps(exchange, userNamed(name), held) }], () => {
      if (!isTried) tools.audit(exchange, `remove from ${scopeText(scopeRef)}`, name)
    })
    sendJson(exchange.res, 200, { message: 'success' })
  }

  return {
    members(scopeRefOf: ScopeRefOf): Handler {
      return exchange => {
        const scopeRef = scopeRefOf(exchange.info.parts)
        return exchange.req.method === 'POST'
          ? addMembers(exchange, scopeRef)
          : showMembers(exchange, scopeRef)
      }
    },
    member(scopeRefOf: ScopeRefOf): Handler {
      return exchange => {
        const scopeRef = scopeRefOf(exchange.info.parts)
        const name = exchange.info.parts.at(-1) ?? ''
        const { method = '' } = exchange.req
        if (method === 'PUT') return changeMember(exchange, scopeRef, name)
        return method === 'DELETE'
          ? removeMember(exchange, scopeRef, name)
          : showMembers(exchange, scopeRef, name)
      }
    },
  }
}

/** @throws Status 405 */
export function requireMethod({ req }: AuthenticatedExchange, allowed: readonly string[]): void {
  if (!allowed.includes(req.method ?? '')) throw methodNotAllowed(allowed)
}

function userNamed(name: string): Subject {
  return { kind: 'User', name }
}

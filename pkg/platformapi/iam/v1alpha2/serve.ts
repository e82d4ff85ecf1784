import { methodNotAllowed, notFound, unauthorized, unknownResource } from '../../../apierrors/status.ts'
import { hasNoCredential } from '../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { isPlatformPrefix } from '../../../apirequest/request-info.ts'
import type { RequirePermission } from '../../../authz/authorizer.ts'
import type { PasswordChecker } from '../../../iam/passwords/password-check.ts'
import type { ClientInfo } from '../../../iam/sessions/client-info.ts'
import type { User } from '../../../iam/users/user.ts'
import type { UserWriter } from '../../../iam/users/user-writer.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { routeOf } from '../../../openapi/route.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { ReadStyle } from '../../read/read-tools.ts'
import { createGroupRoutes } from './groups/group-routes.ts'
import { createWorkspaceRecords } from './roles/member-records.ts'
import { createPlatformRoles } from './roles/platform-roles.ts'
import { createBindingRemover } from './roles/remove-from-bindings.ts'
import { createScopeReader } from './roles/role-reader.ts'
import { createRoleRoutes, type RoleTools } from './roles/role-routes.ts'
import type { iamPaths } from './users/description.ts'
import { deleteFactors, type FactorsOptions } from './users/factors.ts'
import { getLoginRecords } from './users/login-records.ts'
import { isOwnPatchType, patchOwnUser } from './users/own-patch.ts'
import { putPassword } from './users/password.ts'
import { createPermits } from './users/require-permission.ts'
import { narrowUsers } from './users/user-filters.ts'
import { createGroupChanges } from './users/user-groups.ts'
import { createUserForm } from './users/user-response.ts'
import { putState } from './users/user-status.ts'
import { createUser, serveUser } from './users/users.ts'

export type IamOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly users: { readonly get: (name: string) => User | undefined }
  readonly writer: UserWriter
  readonly passwords: PasswordChecker
  /** Returns whether a text is the current password of a user. @throws Status 503 */
  readonly isPassword: (user: string, password: string) => Promise<boolean>
  /** Returns whether the caller has logged in with the password a moment ago. @throws Status 503 */
  readonly hasJustLoggedIn: (exchange: AuthenticatedExchange) => Promise<boolean>
  readonly removeFactors: FactorsOptions['removeFactors']
  readonly endLogins: FactorsOptions['endLogins']
  readonly requirePermission: RequirePermission
  readonly clientAddress: (req: AuthenticatedExchange['req']) => string
  /** Serves lists and watches from the cache, as `{items, totalItems}`. */
  readonly list: (exchange: AuthenticatedExchange, how?: Pick<ReadStyle, 'form' | 'narrow'>) => Promise<void>
  /** Proxies all other requests of the group to kube-apiserver. */
  readonly rest: Handler
  /** The dependencies of views of roles and members. */
  readonly roles: Pick<RoleTools, 'callAs' | 'require' | 'latest' | 'show'>
  readonly logger: Logger
}

export type IamApi = {
  readonly serve: Handler
  /**
   * Returns whether a request needs no RBAC permission: reading the caller's own user and changing
   * the caller's own password. Changes of other fields require permissions.
   */
  readonly isOwn: (exchange: AuthenticatedExchange) => boolean
  /** Serves a PATCH of the caller's own user at kube-apiserver's path; else undefined. */
  readonly servePatchOfOwn: (exchange: AuthenticatedExchange) => Promise<void> | undefined
  /** Returns whether the handlers of roles, members and groups authorize. @throws Status 401 */
  readonly authorizesItself: (exchange: AuthenticatedExchange) => boolean
  /** Grants the stored members of a workspace their roles in a new namespace, as the caller. */
  readonly giveIn: ReturnType<typeof createWorkspaceRecords>['giveIn']
  /** Makes the manager of a new workspace a member of it, as the caller. */
  readonly addManager: (
    exchange: AuthenticatedExchange,
    of: { readonly workspace: string; readonly manager: string },
  ) => Promise<void>
}

/**
 * Serves `/kapis/iam.<group domain>/v1alpha2`: users, their passwords, states and login records.
 * Users are written with the permissions of Kapis, after RBAC has allowed the caller to write users
 * and required-permissions.ts has checked the additional permissions. The audit log records the
 * caller.
 */
export function createIamApi(options: IamOptions): IamApi {
  const { client, groupDomain, users, writer, passwords, requirePermission, clientAddress, logger } = options
  const permitOf = createPermits({ client, groupDomain, requirePermission })
  const group = `iam.${groupDomain}`

  /** Compares the uid too: another identity may have the same name. */
  function isCaller({ identity }: AuthenticatedExchange, name: string): boolean {
    const user = users.get(name)
    return user !== undefined && user.name === identity.username && user.uid === identity.uid
  }
  const isOwnUser = (exchange: AuthenticatedExchange) => isCaller(exchange, exchange.info.name)

  function audit(
    { id, identity, impersonator, req }: AuthenticatedExchange,
    action: string,
    user: string,
    rejection?: string,
  ): void {
    const caller =
      impersonator === undefined
        ? { by: identity.username }
        : { by: impersonator.username, impersonatedUser: identity.username }
    const line = { audit: 'user', id, user, action, ...caller, sourceIp: clientAddress(req) }
    if (rejection === undefined) logger.info({ ...line, outcome: 'success' }, 'user changed')
    else logger.info({ ...line, outcome: 'failure', reason: rejection }, 'user not changed')
  }

  function sourceOf({ req }: AuthenticatedExchange): ClientInfo {
    return { address: clientAddress(req), userAgent: String(req.headers['user-agent'] ?? '').slice(0, 256) }
  }

  async function requireWrite({ identity, info }: AuthenticatedExchange): Promise<void> {
    await requirePermission(identity, { verb: info.verb, group, resource: 'users', name: info.name })
  }

  const scopes = createScopeReader({ groupDomain, ...options.roles })
  const platformRoles = createPlatformRoles({ groupDomain, scopes, callAs: options.roles.callAs })
  const { isPassword, hasJustLoggedIn, removeFactors, endLogins } = options
  const own = { isOwn: isOwnUser, isPassword, hasJustLoggedIn, callAs: options.roles.callAs }
  const leaveBindings = createBindingRemover({ scopes, callAs: options.roles.callAs })
  const writing = { leaveBindings, users, writer, passwords, permitOf, requireWrite, platformRoles }
  const factors = { removeFactors, endLogins }
  const tools = { client, groupDomain, sourceOf, audit, ...writing, ...own, ...factors }
  const routes: Readonly<Record<keyof ReturnType<typeof iamPaths>, Handler>> = {
    '/users': serveCollection,
    '/users/{user}': exchange => serveUser(tools, exchange),
    '/users/{user}/password': exchange => putPassword(tools, exchange),
    '/users/{user}/factors': exchange => deleteFactors(tools, exchange),
    '/users/{user}/status': exchange => putState(tools, exchange),
    '/users/{user}/loginrecords': exchange => getLoginRecords(tools, exchange),
  }

  const changeGroups = createGroupChanges(tools)
  const { callAs, require } = options.roles
  /** These handlers authorize the caller themselves. */
  const rbacRoutes = {
    ...createRoleRoutes({ groupDomain, users, isCaller, audit, ...options.roles }, scopes),
    ...createGroupRoutes({ groupDomain, callAs, require, changeGroups, leaveBindings }, scopes),
  }

  function serve(exchange: AuthenticatedExchange): Promise<void> | void {
    const { info } = exchange
    const ofRbac = routeOf(rbacRoutes, info.parts)
    // kube-apiserver answers writes in such a namespace with 500, although it cannot exist.
    if (ofRbac !== undefined && info.namespace.includes('%'))
      throw notFound({ group: '', resource: 'namespaces' }, info.namespace)
    if (ofRbac !== undefined) return ofRbac(exchange)
    if (info.resource !== 'users' || info.namespace !== '') return options.rest(exchange)
    if (info.verb === 'watch') return options.list(exchange)
    const route = routeOf(routes, info.parts)
    if (route === undefined) throw unknownResource()
    return route(exchange)
  }

  async function listUsers(exchange: AuthenticatedExchange): Promise<void> {
    const roles = await platformRoles.readFor(exchange)
    await options.list(exchange, {
      form: createUserForm(roles, groupDomain),
      narrow: query => narrowUsers({ scopes, platformRoles }, exchange, query),
    })
  }

  function serveCollection(exchange: AuthenticatedExchange): Promise<void> | void {
    const { method } = exchange.req
    if (method === 'GET' || method === 'HEAD') return listUsers(exchange)
    if (method !== 'POST') throw methodNotAllowed(['GET', 'HEAD', 'POST'])
    return createUser(tools, exchange)
  }

  function isHere({ info, isAggregated }: AuthenticatedExchange): boolean {
    return (
      isPlatformPrefix(info.prefix) && !isAggregated && info.group === group && info.version === 'v1alpha2'
    )
  }

  const { giveIn, addManager } = createWorkspaceRecords({ groupDomain, callAs, scopes })

  return {
    serve,
    giveIn,
    addManager,
    servePatchOfOwn(exchange) {
      const { info, isAggregated } = exchange
      const isHere = info.prefix === 'apis' && info.group === group && info.version === 'v1alpha2'
      const isUser = info.resource === 'users' && info.parts.length === 2 && info.namespace === ''
      if (!isHere || isAggregated || !isUser || !isOwnPatchType(exchange) || !isOwnUser(exchange))
        return undefined
      return patchOwnUser(tools, exchange)
    },
    authorizesItself(exchange) {
      if (!isHere(exchange) || routeOf(rbacRoutes, exchange.info.parts) === undefined) return false
      if (hasNoCredential(exchange.identity)) throw unauthorized()
      return true
    },
    isOwn(exchange) {
      const { info } = exchange
      if (!isHere(exchange) || info.resource !== 'users') return false
      const isUser = ['get', 'update', 'patch'].includes(info.verb) && info.parts.length === 2
      const isPassword = info.verb === 'update' && info.parts.length === 3 && info.subresource === 'password'
      return (isUser || isPassword) && info.namespace === '' && isOwnUser(exchange)
    },
  }
}

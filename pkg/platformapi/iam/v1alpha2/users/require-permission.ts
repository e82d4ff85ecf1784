import { isStatus, Status } from '../../../../apierrors/status.ts'
import type { Identity } from '../../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import type { ObjectPermission, RequirePermission } from '../../../../authz/authorizer.ts'
import { isNamedInRbac } from '../../../../iam/identityprovider/linking/rbac-subject-lookup.ts'
import type { UserPermissions } from '../../../../iam/users/required-permissions.ts'
import type { RequirePermissions } from '../../../../iam/users/user-writer.ts'
import type { KubeClient } from '../../../../kubeclient/client.ts'

export type PermitOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly requirePermission: RequirePermission
}

/** Checks by RBAC the permissions that a change of a user requires of its caller. */
export function createPermits(
  options: PermitOptions,
): (exchange: AuthenticatedExchange) => RequirePermissions {
  const { client, groupDomain, requirePermission } = options

  async function require(identity: Identity, permission: ObjectPermission, what: string): Promise<void> {
    try {
      await requirePermission(identity, permission)
    } catch (error) {
      if (!isStatus(error, 403)) throw error
      const { code, reason, message, details } = error
      throw new Status(code, reason, `${message}: ${what} requires it`, { details: details ?? {} })
    }
  }

  async function requireUser(identity: Identity, name: string, when: UserPermissions['user']): Promise<void> {
    if (when === 'never') return
    const permission = { verb: 'impersonate', group: '', resource: 'users', name }
    if (when === 'always')
      return require(identity, permission, 'setting a password, an e-mail address or a link of this user, or resetting second factors,')
    try {
      await require(identity, permission, 'a user name that already has permissions in RBAC')
    } catch (error) {
      if (!isStatus(error, 403) || (await isNamedInRbac(client, name))) throw error
    }
  }

  return ({ identity }) =>
    async (name, { subresources, groups, user, anyGroup }) => {
      for (const subresource of subresources) {
        const permission = {
          verb: 'update',
          group: `iam.${groupDomain}`,
          resource: 'users',
          subresource,
          name,
        }
        await require(identity, permission, subresource === 'status'
          ? 'a change of status.state'
          : 'spec.password')
      }
      await requireUser(identity, name, user)
      const what = user === 'always' ? 'logging in as a member of this group' : 'adding a user to this group'
      for (const group of groups)
        await require(identity, { verb: 'impersonate', group: '', resource: 'groups', name: group }, what)
      if (anyGroup) {
        const permission = { verb: 'impersonate', group: '', resource: 'groups', name: '' }
        await require(identity, permission, 'a link to an identity provider, which reports groups later,')
      }
    }
}

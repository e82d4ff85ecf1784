import { methodNotAllowed } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import { permissionsToSetPassword } from '../../../../iam/users/required-permissions.ts'
import { toUser } from '../../../../iam/users/user.ts'
import type { RequirePermissions, UserWriter } from '../../../../iam/users/user-writer.ts'
import { isDryRun } from '../../../write/dry-run.ts'

export type FactorsOptions = {
  readonly writer: Pick<UserWriter, 'read'>
  /** Removes all second factors of a user. @throws Status 503 */
  readonly removeFactors: (user: { readonly name: string; readonly uid: string }) => Promise<void>
  /** Ends all logins of a user. @throws Status 503 */
  readonly endLogins: (user: string, why: string) => Promise<void>
  readonly permitOf: (exchange: AuthenticatedExchange) => RequirePermissions
  readonly audit: (exchange: AuthenticatedExchange, action: string, user: string) => void
}

/**
 * DELETE /users/{user}/factors: removes the second factors and recovery codes of a user who has lost
 * them, and ends all logins of the user. It requires the permission to delete users/factors and,
 * like setting the password, to impersonate the user and each group of the user.
 */
export async function deleteFactors(options: FactorsOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { writer, removeFactors, endLogins, permitOf, audit } = options
  const { req, res, info } = exchange
  if (req.method !== 'DELETE') throw methodNotAllowed(['DELETE'])
  const isTried = isDryRun(exchange)
  const stored = await writer.read(info.name)
  await permitOf(exchange)(info.name, permissionsToSetPassword(stored))
  if (!isTried) {
    await removeFactors(toUser(stored))
    await endLogins(info.name, 'second factors reset')
    audit(exchange, 'reset second factors', info.name)
  }
  sendJson(res, 200, { message: 'success' })
}

import { badRequest, methodNotAllowed, tooManyRequests } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import type { PasswordChecker } from '../../../../iam/passwords/password-check.ts'
import { invalidUser } from '../../../../iam/users/user-draft.ts'
import { passwordProblem, problemAt } from '../../../../iam/users/user-validation.ts'
import type { RequirePermissions, UserWriter } from '../../../../iam/users/user-writer.ts'
import { isRecord } from '../../../../kubeclient/object/object.ts'
import { isDryRun } from '../../../write/dry-run.ts'
import { readJson } from '../../../write/json-body.ts'

export type PasswordOptions = {
  readonly groupDomain: string
  readonly writer: Pick<UserWriter, 'setPassword'>
  readonly passwords: Pick<PasswordChecker, 'check'>
  readonly sourceOf: (exchange: AuthenticatedExchange) => { address: string; userAgent: string }
  readonly isOwn: (exchange: AuthenticatedExchange) => boolean
  readonly permitOf: (exchange: AuthenticatedExchange) => RequirePermissions
  /** Writes an audit event. @param rejection why it was rejected, one of a fixed set; undefined if it was not */
  readonly audit: (exchange: AuthenticatedExchange, action: string, user: string, rejection?: string) => void
}

/**
 * PUT /users/{user}/password `{currentPassword, password}`. Users who change their own password
 * must send the current one. Failures count for the lockout like failed logins, so that a stolen
 * token does not allow guessing the password. Setting the password of another user requires
 * permission to update users/password, and to impersonate the user and all groups of the user; the
 * current one is checked if it is sent.
 *
 * Both end all logins of the user.
 */
export async function putPassword(options: PasswordOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { groupDomain, writer, audit } = options
  const { req, res, info } = exchange
  if (req.method !== 'PUT') throw methodNotAllowed(['PUT'])
  const isTried = isDryRun(exchange)
  const body = await readJson(req, ['application/json'])
  const { currentPassword, password } = isRecord(body) ? body : {}
  if (typeof password !== 'string') throw badRequest('password is required, and must be a string')
  const problem = passwordProblem(password)
  if (problem !== undefined) throw invalidUser(groupDomain, info.name, problemAt('password', problem))
  const permit = options.isOwn(exchange) ? undefined : options.permitOf(exchange)
  if (permit === undefined || (currentPassword ?? '') !== '') {
    // Only callers who may set the password may learn whether the current one is right.
    if (permit !== undefined) await writer.setPassword(info.name, password, { permit, isDryRun: true })
    await requireCurrent(options, exchange, currentPassword)
    if (currentPassword === password) throw badRequest('the new password must differ from currentPassword')
  }
  await writer.setPassword(info.name, password, { permit, isDryRun: isTried })
  if (!isTried) audit(exchange, 'set password', info.name)
  sendJson(res, 200, { message: 'success' })
}

/** @throws Status 400 for another password, 429 after too many of these */
async function requireCurrent(
  { passwords, sourceOf, audit, isOwn }: PasswordOptions,
  exchange: AuthenticatedExchange,
  password: unknown,
): Promise<void> {
  const { name } = exchange.info
  if ((password ?? '') === '' && isOwn(exchange))
    throw badRequest('currentPassword is required to change your own password')
  if (typeof password !== 'string') throw badRequest('currentPassword must be a string')
  const verdict = await passwords.check({ login: name, password, source: sourceOf(exchange) })
  // Failed attempts are audited too: a stolen token may be used to guess the password.
  if (verdict.outcome === 'locked') {
    audit(exchange, 'set password', name, 'locked')
    throw tooManyRequests('too many wrong passwords: try again later', verdict.retryAfterSeconds)
  }
  if (verdict.outcome === 'wrong') {
    audit(exchange, 'set password', name, 'wrong_password')
    throw badRequest('currentPassword is not the password of the user')
  }
}

import { badRequest, methodNotAllowed } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import type { UserState } from '../../../../iam/users/user.ts'
import { stringifyExactly } from '../../../../json/stringify.ts'
import { isRecord } from '../../../../kubeclient/object/object.ts'
import { isDryRun } from '../../../write/dry-run.ts'
import { readJson } from '../../../write/json-body.ts'
import { toResponse, type UsersOptions } from './users.ts'

const states: readonly UserState[] = ['Active', 'Disabled']

/** PUT /users/{user}/status `{"status": {"state"}}`: enables, unlocks or disables a user. */
export async function putState(options: UsersOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { groupDomain, writer, audit } = options
  const { req, res, info } = exchange
  if (req.method !== 'PUT') throw methodNotAllowed(['PUT'])
  const body = await readJson(req, ['application/json'])
  const status = isRecord(body) && isRecord(body.status) ? body.status : {}
  const state = states.find(known => known === status.state)
  if (state === undefined)
    throw badRequest(
      `status.state must be one of ${states.join(', ')}, not ${stringifyExactly(status.state ?? '')}`,
    )
  const isTried = isDryRun(exchange)
  const reason = state === 'Disabled' ? 'Disabled by an administrator' : ''
  const user = await writer.setState(info.name, state, { reason, isDryRun: isTried })
  if (!isTried) audit(exchange, `set ${state}`, info.name)
  sendJson(res, 200, toResponse(user, groupDomain))
}

import { methodNotAllowed } from '../../apierrors/status.ts'
import type { Exchange, Handler } from '../../apirequest/request-context.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { listenerProfilePrefix, profileKindOf } from '../../telemetry/profile.ts'
import { createProfileAnswer } from '../../telemetry/profile-answer.ts'
import type { DocumentRoute } from '../wiring/router.ts'

const prefix = '/debug/profile/'

/**
 * Profiles of the running programs. Anyone who asks needs `get` on the path. kapis-oauth has no one to judge by, and
 * nobody but kapis-apiserver comes to its socket: its profiles are asked for here.
 *
 * @param forward hands a request on to kapis-oauth, and waits for as long as a profile takes
 */
export function createProfiles(logger: Logger, forward: Handler<Exchange>): DocumentRoute {
  const answer = createProfileAnswer('kapis', logger)
  return {
    handles: path =>
      profileKindOf(path, prefix) !== undefined || profileKindOf(path, listenerProfilePrefix) !== undefined,
    handle(exchange) {
      const { req, res, info, query } = exchange
      if (req.method !== 'GET') throw methodNotAllowed(['GET'])
      const kind = profileKindOf(info.path, prefix)
      return kind === undefined ? forward(exchange) : answer(kind, query, res)
    },
  }
}

import { methodNotAllowed } from '../../apierrors/status.ts'
import type { Exchange, Handler } from '../../apirequest/request-context.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { listenerProfilePrefix, profileKindOf } from '../../telemetry/profile.ts'
import { createProfileHandler } from '../../telemetry/profile-handler.ts'
import type { DocumentRoute } from '../wiring/path-router.ts'

const prefix = '/debug/profile/'

/**
 * Serves CPU profiles of both programs to callers with `get` on the path. kapis-oauth does not
 * authorize requests itself and is only reachable through kapis-apiserver, so requests for its
 * profiles are authorized here.
 *
 * @param forward proxies a request to kapis-oauth, with a timeout longer than any profile
 */
export function createProfiles(logger: Logger, forward: Handler<Exchange>): DocumentRoute {
  const respond = createProfileHandler('kapis', logger)
  return {
    handles: path =>
      profileKindOf(path, prefix) !== undefined || profileKindOf(path, listenerProfilePrefix) !== undefined,
    handle(exchange) {
      const { req, res, info, query } = exchange
      if (req.method !== 'GET') throw methodNotAllowed(['GET'])
      const kind = profileKindOf(info.path, prefix)
      return kind === undefined ? forward(exchange) : respond(kind, query, res)
    },
  }
}

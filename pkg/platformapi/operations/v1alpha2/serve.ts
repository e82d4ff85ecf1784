import { badRequest, methodNotAllowed, unauthorized, unknownResource } from '../../../apierrors/status.ts'
import { hasNoCredential } from '../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { isPlatformPrefix } from '../../../apirequest/request-info.ts'
import { sendJson } from '../../../httpserver/response/respond.ts'
import { findRoute } from '../../../openapi/route.ts'
import type { CallAs } from '../../write/as-caller.ts'
import { rerunJob } from './rerun-job.ts'

export type Operations = {
  readonly serve: Handler
  /** Returns whether kube-apiserver authorizes the caller, for each write. @throws Status 401 */
  readonly authorizesItself: (exchange: AuthenticatedExchange) => boolean
}

const jobPath = '/namespaces/{namespace}/jobs/{job}'

/** Serves `POST /kapis/operations.<group domain>/v1alpha2/namespaces/{namespace}/jobs/{job}?action=rerun`. */
export function createOperations(options: {
  readonly groupDomain: string
  readonly callAs: CallAs
}): Operations {
  const { groupDomain, callAs } = options
  const isJob = ({ info }: AuthenticatedExchange) => findRoute([jobPath], info.parts) !== undefined
  return {
    async serve(exchange) {
      if (!isJob(exchange)) throw unknownResource()
      if (exchange.req.method !== 'POST') throw methodNotAllowed(['POST'])
      const action = exchange.query.get('action') ?? ''
      if (action !== 'rerun') throw badRequest(`invalid action ${JSON.stringify(action)}: expected rerun`)
      const [, namespace = '', , name = ''] = exchange.info.parts
      await rerunJob(callAs, exchange, { namespace, name })
      sendJson(exchange.res, 200, { message: 'success' })
    },
    authorizesItself(exchange) {
      const { info, identity, isAggregated } = exchange
      const isHere =
        isPlatformPrefix(info.prefix) &&
        !isAggregated &&
        info.group === `operations.${groupDomain}` &&
        info.version === 'v1alpha2'
      if (!isHere || !isJob(exchange)) return false
      if (hasNoCredential(identity)) throw unauthorized()
      return true
    },
  }
}

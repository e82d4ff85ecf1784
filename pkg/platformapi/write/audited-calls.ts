import { toStatus } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { fieldsOf, isRecord, itemsOf, textOf } from '../../kubeclient/object/object.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { CallAs, KubeResponse } from './as-caller.ts'

/**
 * Writes an audit event for each write as the caller: a request may have many.
 *
 * @param audit.account the account whose permissions apply, if it is not the caller
 */
export function withAuditOfWrites(
  callAs: CallAs,
  audit: {
    readonly logger: Logger
    readonly clientAddress: (req: AuthenticatedExchange['req']) => string
    readonly account?: string
  },
): CallAs {
  return async (exchange, call) => {
    const { method = 'GET' } = call
    const [path = '', query = ''] = call.path.split('?')
    if (method === 'GET' || isTried(query, call)) return callAs(exchange, call)
    const { id, identity, impersonator, req } = exchange
    const line = {
      ...{ audit: 'write', id, method, by: (impersonator ?? identity).username },
      ...(impersonator !== undefined && { impersonatedUser: identity.username }),
      sourceIp: audit.clientAddress(req),
      ...(audit.account !== undefined && { account: audit.account }),
    }
    const called = await callAs(exchange, call).catch((error: unknown) => {
      const { code, reason } = toStatus(error)
      audit.logger.info({ ...line, object: path, outcome: 'failure', code, reason }, 'object not written')
      throw error
    })
    const name = method === 'POST' ? `/${encodeURIComponent(nameIn(called))}` : ''
    audit.logger.info({ ...line, object: `${path}${name}`, outcome: 'success' }, 'object written')
    return called
  }
}

/** Returns whether a write is a dry run; only the body of a DELETE has options. */
function isTried(query: string, { method, body }: Parameters<CallAs>[1]): boolean {
  return (
    new URLSearchParams(query).has('dryRun') ||
    (method === 'DELETE' && itemsOf(fieldsOf(body).dryRun).includes('All'))
  )
}

/** Returns the name of a new object, which kube-apiserver may have generated. */
function nameIn({ text }: KubeResponse): string {
  const object: unknown = JSON.parse(text)
  return isRecord(object) ? textOf(fieldsOf(object.metadata).name) : ''
}

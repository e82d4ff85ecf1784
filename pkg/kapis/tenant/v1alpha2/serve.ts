import type { Handler } from '../../../request/exchange.ts'
import { unknownResource } from '../../../status/status.ts'
import type { LogFace } from '../../logs/serve.ts'

/** `GET /kapis/tenant.<group domain>/v1alpha2/logs`. @throws Status 404 for everything else, and what the log face throws */
export function createTenantFace(logs: LogFace): Handler {
  return exchange => {
    const { parts } = exchange.info
    if (parts.length === 1 && parts[0] === 'logs') return logs(exchange)
    throw unknownResource()
  }
}

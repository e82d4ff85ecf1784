import type { ExplainDenial } from '../authorizer.ts'
import type { RbacReader } from '../rbac/rbac-index.ts'
import { explainAccess } from './explain-access.ts'
import { refText } from './grant.ts'
import { listRequests } from './rbac-read-permission.ts'

/**
 * Creates explanations of 403 responses, for callers who may list all roles and bindings. An
 * explanation names the closest binding, or the missing rule.
 */
export function createForbiddenExplanation(
  reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf'>,
): ExplainDenial {
  return async (info, identity, isAllowed) => {
    for (const request of listRequests('everywhere')) if (!(await isAllowed(request))) return ''
    const explanation = explainAccess(reader, identity, info)
    // RBAC allows the request, so another authorizer has denied it.
    if (explanation.isAllowed) return ''
    const [closest] = explanation.nearest
    if (closest === undefined) return `no binding grants the rule ${JSON.stringify(explanation.missingRule)}`
    const { binding, role, missing } = closest
    return `${refText(binding)} gives ${refText(role)}, but ${missing.join('; ')}`
  }
}

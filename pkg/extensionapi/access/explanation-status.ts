import type { Identity } from '../../apirequest/identity/identity.ts'
import type { RbacReader } from '../../authz/rbac/rbac-index.ts'
import { explainAccess, rolesThatAllow } from '../../authz/review/explain-access.ts'
import type { AccessAttributes } from '../../authz/review/rule.ts'
import type { RuleResolution } from '../../authz/review/rule-completeness.ts'
import type { Decision } from '../../authz/subject-access-review.ts'

/** Returns the decision of kube-apiserver (SubjectAccessReview). @throws Status 503 */
export type ReviewAccess = (identity: Identity, attributes: AccessAttributes) => Promise<Decision>

/**
 * Returns the status of an ExplainAccess. The decision comes from kube-apiserver, the reasons from
 * RBAC. If they differ, another authorizer has decided, which the status states.
 */
export async function explanationStatus(
  options: {
    readonly reader: RbacReader
    readonly review: ReviewAccess
    readonly resolution: () => Promise<RuleResolution>
  },
  request: {
    readonly identity: Identity
    readonly attributes: AccessAttributes
    readonly showsRoles: boolean
  },
): Promise<object> {
  const { reader, review, resolution } = options
  const { identity, attributes, showsRoles } = request
  const { isAllowed, ...explanation } = explainAccess(reader, identity, attributes)
  const [decision, resolved] = await Promise.all([review(identity, attributes), resolution()])
  const roles = !decision.isAllowed && showsRoles ? rolesThatAllow(reader, attributes) : []
  return {
    allowed: decision.isAllowed,
    ...(decision.reason === '' ? {} : { reason: decision.reason }),
    ...explanation,
    ...(roles.length > 0 ? { rolesThatAllow: roles } : {}),
    ...(decision.isAllowed === isAllowed ? resolved : differing(isAllowed)),
  }
}

function differing(isAllowed: boolean): RuleResolution {
  const [rbac, decided] = isAllowed ? ['allows', 'refuses'] : ['does not allow', 'allows']
  return {
    incomplete: true,
    evaluationError: `RBAC ${rbac} the request and kube-apiserver ${decided} it: another authorizer decides, or a change of a role or binding has not reached one of them yet`,
  }
}

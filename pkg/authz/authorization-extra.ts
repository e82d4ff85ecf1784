import type { Identity } from '../apirequest/identity/identity.ts'

/** The ID of a token: for audit logs, and not for authorization. */
const credentialId = 'authentication.kubernetes.io/credential-id'

/**
 * Selects the extra fields for a SubjectAccessReview. The token name (credential-id) is omitted:
 * otherwise the decisions could not be shared by the tokens of a user, and RBAC cannot depend on
 * it.
 */
export function authorizationExtra({ extra }: Identity): Identity['extra'] {
  if (extra[credentialId] === undefined) return extra
  return Object.fromEntries(Object.entries(extra).filter(([key]) => key !== credentialId))
}

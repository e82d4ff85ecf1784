import type { Identity } from '../apirequest/identity/identity.ts'

/** The ID of a token, which is for audit logs and not for authorization. */
const credentialId = 'authentication.kubernetes.io/credential-id'

/**
 * Selects the extra fields for a SubjectAccessReview. The token ID (credential-id) is omitted: RBAC
 * cannot depend on it, and the tokens of a user could not share decisions.
 */
export function authorizationExtra({ extra }: Identity): Identity['extra'] {
  if (extra[credentialId] === undefined) return extra
  return Object.fromEntries(Object.entries(extra).filter(([key]) => key !== credentialId))
}

import type { Identity } from '../apirequest/identity.ts'

/** Names one token: for audit logs, and not for rights. */
const credentialId = 'authentication.kubernetes.io/credential-id'

/**
 * What of a caller's extra fields is asked about. Without the name of the token: with it every token of a user would be
 * judged again, and a right that hangs on one token is none that RBAC could give.
 */
export function decidingExtra({ extra }: Identity): Identity['extra'] {
  if (extra[credentialId] === undefined) return extra
  return Object.fromEntries(Object.entries(extra).filter(([key]) => key !== credentialId))
}

import type { Cause } from '../../apierrors/status.ts'
import { isReservedName } from '../../jwt/reserved-username.ts'

/** Returns why a value is invalid; undefined if it is valid. */
type Rule = (value: string) => string | undefined

const dns1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
// RFC 5322 section 3.4.1, addr-spec: dot-atom "@" domain. Quoted local parts and address literals
// are not supported, as in most login forms.
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const address = new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`)

/** Validates a user name. Its length is limited because it is a label value of login records. */
export const nameProblem: Rule = name =>
  name.length <= 63 && dns1123.test(name)
    ? undefined
    : 'must be a DNS-1123 subdomain of at most 63 characters: lower-case letters, digits, "-" and "."'

export const emailProblem: Rule = email => {
  const isAddress = email.length <= 254 && email.indexOf('@') <= 64 && address.test(email)
  return isAddress ? undefined : 'must be an e-mail address (RFC 5322) such as alice@example.org'
}

const bcryptPrefix = /^\$2[abxy]?\$/

/** Reports whether a text looks like a bcrypt hash of any cost. */
export function isLikeHash(text: string): boolean {
  return bcryptPrefix.test(text)
}

/** Validates a password; the message never contains it. */
export const passwordProblem: Rule = password => {
  // Other components that accept hashes would store it unchanged.
  if (isLikeHash(password)) return 'must be a password, and not a bcrypt hash'
  const { length } = [...password]
  const isLong = length >= 8 && length <= 64
  if (!isLong || !/\p{Ll}/u.test(password) || !/\p{Lu}/u.test(password) || !/\p{Nd}/u.test(password))
    return 'must have 8 to 64 characters, including a lower-case letter, an upper-case letter and a digit'
  // bcrypt ignores bytes after the first 72.
  return Buffer.byteLength(password) > 72 ? 'must have at most 72 bytes in UTF-8' : undefined
}

// Invisible characters, and characters that parsers of names may normalize.
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u

/** Validates a group by the rule of the schema of User (manifests/base/crds/users.yaml). */
export const groupProblem: Rule = group => {
  if (group === '' || group.length > 253) return 'must have 1 to 253 characters'
  if (invisible.test(group)) return 'must not contain control or invisible characters'
  if (group.trim() !== group) return 'must not begin or end with white space'
  return isReservedName(group) ? 'must not begin with "system:", which is reserved for Kubernetes' : undefined
}

/** @returns the message as a list of metav1.StatusCause; empty without a message */
export function problemAt(field: string, message: string | undefined): readonly Cause[] {
  return message === undefined ? [] : [{ reason: 'FieldValueInvalid', message, field }]
}

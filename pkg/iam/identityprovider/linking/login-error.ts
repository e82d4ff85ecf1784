import { Status } from '../../../apierrors/status.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'

/** Reason codes of rejected logins, for the audit log. */
export type RejectionReason =
  // The provider responded with an error.
  | 'unknown_user'
  | 'wrong_password'
  | 'ambiguous_user'
  | 'user_without_uid'
  | 'provider_refused'
  | 'provider_answer_invalid'
  | 'provider_groups_incomplete'
  | 'provider_groups_invalid'
  | 'not_a_member'
  | 'too_many_groups'
  // Problems of local users.
  | 'user_not_linked'
  | 'user_linked_twice'
  | 'user_already_linked'
  | 'user_name_unusable'
  | 'user_name_taken'
  | 'email_missing'
  | 'email_taken'
  | 'registration_not_confirmed'

/**
 * Returns a 400 for a rejected login. The caller sees the message, the audit log contains the
 * reason, and neither contains the underlying error.
 *
 * @returns a Status whose cause is an Error with only the reason
 */
export function loginError(reason: RejectionReason, message: string, cause?: unknown): Status {
  return new Status(400, 'invalid_grant', message, { cause: toCause(reason, cause) })
}

/** Returns a 503 for a provider that is unavailable or misconfigured; only the log shows which. */
export function providerFailed(cause: unknown): Status {
  return new Status(503, 'temporarily_unavailable', 'the identity provider returned an invalid response', {
    cause: toCause('provider_failed', cause),
    headers: { 'retry-after': '5' },
  })
}

/** Returns the reason of an error that `loginError` has created; undefined for any other error. */
export function rejectionReason(error: unknown): string | undefined {
  return error instanceof Status && error.cause instanceof Error && /^[a-z_]+$/.test(error.cause.message)
    ? error.cause.message
    : undefined
}

/** Adds the name of the user to a Status, for the audit log; returns other errors unchanged. */
export function withRejectedUser(error: unknown, user: string): unknown {
  const reason = rejectionReason(error)
  if (!(error instanceof Status) || reason === undefined) return error
  const { code, message, headers, cause } = error
  const about = new Error(reason, { cause: cause instanceof Error ? cause.cause : undefined })
  return new Status(code, error.reason, message, { headers, cause: Object.assign(about, { user }) })
}

/** Returns the user that `withRejectedUser` has added to an error. */
export function rejectedUser({ cause }: Status): string | undefined {
  return cause instanceof Error && 'user' in cause && typeof cause.user === 'string' ? cause.user : undefined
}

/**
 * Copies only messages and compared values of an error: libraries attach whole responses with
 * tokens to errors, and the log would contain them.
 */
function toCause(reason: string, cause: unknown): Error {
  if (cause === undefined) return new Error(reason)
  const messages: string[] = []
  for (let error: unknown = cause; error instanceof Error && messages.length < 5; error = error.cause) {
    const parts = error instanceof AggregateError ? error.errors : [error]
    messages.push(...parts.map(part => (part instanceof Error ? `${part.name}: ${part.message}` : 'unknown')))
    messages.push(...responseOf(error), ...comparisonOf(error))
  }
  return new Error(reason, { cause: new Error(messages.join('; ') || 'unknown') })
}

/**
 * Returns status, error and description of an OAuth error response (RFC 6749 section 5.2), such as
 * invalid_client; neither contains a credential.
 */
function responseOf(error: Error): readonly string[] {
  const { status, error: code, error_description: description, cause }: ResponseError = error
  const at = status ?? (cause instanceof Response ? cause.status : undefined)
  const parts = [at === undefined ? undefined : `status ${at}`, code, description]
  return parts
    .filter(part => typeof part === 'string')
    .map(part => JSON.stringify(part.slice(0, 256)).slice(1, -1))
}

type ResponseError = Error & {
  readonly status?: unknown
  readonly error?: unknown
  readonly error_description?: unknown
}

// Fields of metadata, userinfo and callback that are compared; none of them is secret.
const compared: readonly string[] = ['issuer', 'iss', 'sub', 'aud']

/**
 * Returns the name and values of a failed comparison, from the cause of an error of oauth4webapi.
 * The cause has a body, claims or a parameter.
 */
function comparisonOf({ cause }: Error): readonly string[] {
  if (!isRecord(cause)) return []
  const { attribute, claim, expected, body, claims, parameters } = cause
  const isCallback = parameters instanceof URLSearchParams
  const name = compared.find(each => each === (isCallback ? 'iss' : (attribute ?? claim)))
  if (name === undefined) return []
  const members = isCallback ? Object.fromEntries(parameters) : (body ?? claims)
  return [
    `${name}: expected ${printValue(expected)}, got ${printValue(isRecord(members) ? members[name] : undefined)}`,
  ]
}

function printValue(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value).slice(0, 256)
}

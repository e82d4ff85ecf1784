/** Reasons: metav1.StatusReason of Kubernetes, and the OAuth error codes that Kapis uses. */
export type Reason = KubeReason | OAuthReason

/** RFC 6749 sections 4.1.2.1 and 5.2, OIDC Core section 3.1.2.6, RFC 8628 section 3.5, RFC 8707. */
export type OAuthReason =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'invalid_target'

export type KubeReason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'UnsupportedMediaType'
  | 'RequestEntityTooLarge'
  | 'Expired'
  | 'Invalid'
  | 'TooManyRequests'
  | 'InternalError'
  | 'ServiceUnavailable'
  | 'Timeout'
  | 'InsufficientStorage'

/** One cause of a failure, as metav1.StatusCause. */
export type Cause = { reason?: string; message?: string; field?: string }

/** The object and the causes of an error, as metav1.StatusDetails. */
export type Details = {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: readonly Cause[]
  retryAfterSeconds?: number
}

type Extras = {
  details?: Details
  cause?: unknown
  /** List metadata of the error; for an expired continue token it contains a new token. */
  metadata?: { continue?: string }
  headers?: Readonly<Record<string, string>>
}

/**
 * The error type for callers: code, reason and message are sent in the response. Any other
 * exception results in a 500 without details (see toStatus), and its message is only logged.
 */
export class Status extends Error {
  readonly code: number
  readonly reason: Reason
  readonly details: Details | undefined
  readonly metadata: { continue?: string }
  readonly headers: Readonly<Record<string, string>>

  constructor(code: number, reason: Reason, message: string, extras: Extras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'Status'
    this.code = code
    this.reason = reason
    this.details = extras.details
    this.metadata = extras.metadata ?? {}
    this.headers = extras.headers ?? {}
  }
}

/** Returns a 400 for a malformed request. The message names the parameter and what is allowed. */
export function badRequest(message: string): Status {
  return new Status(400, 'BadRequest', message)
}

/** Returns a 401 with the message of kube-apiserver and a challenge. The reason is only logged. */
export function unauthorized(cause?: unknown, headers: Readonly<Record<string, string>> = {}): Status {
  return new Status(401, 'Unauthorized', 'Unauthorized', {
    cause,
    headers: { 'www-authenticate': 'Bearer realm="kapis"', ...headers },
  })
}

/** Returns a 404 for an object: `nodes.resources.kapis.io "x" not found`. */
export function notFound(resource: { group: string; resource: string }, name: string): Status {
  const { group, resource: kind } = resource
  return new Status(404, 'NotFound', `${qualified(resource)} "${name}" not found`, {
    details: group === '' ? { name, kind } : { name, group, kind },
  })
}

/** Returns a 404 for an unknown path below a known prefix. */
export function unknownResource(message = 'the server could not find the requested resource'): Status {
  return new Status(404, 'NotFound', message, { details: {} })
}

/** Returns a 405; `allow` becomes the Allow header, which RFC 9110 section 15.5.6 requires. */
export function methodNotAllowed(
  allow: readonly string[],
  message = 'the server does not allow this method on the requested resource',
): Status {
  return new Status(405, 'MethodNotAllowed', message, { details: {}, headers: { allow: allow.join(', ') } })
}

/** Returns a 406: none of the media types in Accept is supported. */
export function notAcceptable(mediaTypes: readonly string[]): Status {
  const message = `only the following media types are accepted: ${mediaTypes.join(', ')}`
  return new Status(406, 'NotAcceptable', message)
}

/** Returns a 410: the resource version is no longer available, and clients must list again. */
export function expired(message: string, freshContinue?: string): Status {
  return new Status(410, 'Expired', message, freshContinue ? { metadata: { continue: freshContinue } } : {})
}

/** Returns a 413: the body exceeds the limit, in bytes. */
export function tooLarge(limitBytes: number): Status {
  const message = `Request entity is too large: limit is ${limitBytes}`
  return new Status(413, 'RequestEntityTooLarge', message)
}

/** Returns a 422: the request is well-formed, but a field is invalid. */
export function invalid(
  { group, kind, name }: { group: string; kind: string; name?: string },
  causes: readonly Cause[],
): Status {
  const text = causes.map(c => (c.field ? `${c.field}: ${c.message}` : c.message)).join(', ')
  const list = causes.length > 1 ? `[${text}]` : text
  const message = `${group === '' ? kind : `${kind}.${group}`} ${JSON.stringify(name ?? '')} is invalid: ${list}`
  const details = { ...(name !== undefined && { name }), ...(group !== '' && { group }), kind, causes }
  return new Status(422, 'Invalid', message, { details })
}

/** Returns a 429 with Retry-After in seconds. */
export function tooManyRequests(message: string, retryAfterSeconds: number, cause?: unknown): Status {
  return new Status(429, 'TooManyRequests', message, {
    cause,
    details: { retryAfterSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}

/** Returns a 503. The message names the dependency that does not respond; the cause is logged. */
export function unavailable(message: string, cause?: unknown, retryAfterSeconds = 1): Status {
  return new Status(503, 'ServiceUnavailable', message, {
    cause,
    details: { retryAfterSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}

/** Returns the 504 of kube-apiserver for a resource version that is not reached yet. */
export function tooLargeResourceVersion(requested: string, current: string): Status {
  return new Status(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${requested}, current: ${current}`,
    {
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
      headers: { 'retry-after': '1' },
    },
  )
}

/** Returns a 504. The message states what timed out, and after what time. */
export function timedOut(message: string): Status {
  return new Status(504, 'Timeout', message)
}

/** Returns a 507 (RFC 4918 section 11.5): the storage is full. */
export function insufficientStorage(message: string, cause?: unknown): Status {
  return new Status(507, 'InsufficientStorage', message, { cause })
}

/** Reports whether an error is a Status with one of these codes. */
export function isStatus(error: unknown, ...codes: readonly number[]): error is Status {
  return error instanceof Status && codes.includes(error.code)
}

/** Resolves to undefined instead of rejecting with one of these codes. */
export async function orUndefined<T>(
  result: Promise<T>,
  ...codes: readonly number[]
): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (isStatus(error, ...codes)) return undefined
    throw error
  }
}

/** Converts a thrown value to a Status; anything else becomes a 500 without details. */
export function toStatus(error: unknown): Status {
  if (error instanceof Status) return error
  return new Status(500, 'InternalError', 'Internal error occurred', { cause: error })
}

function qualified(resource: { group: string; resource: string }): string {
  return resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
}

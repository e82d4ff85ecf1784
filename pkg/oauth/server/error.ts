import type { Response } from 'express'
import { renderKube } from '../../apierrors/render-kube.ts'
import { type OAuthReason, Status } from '../../apierrors/status.ts'

/** The reason code of a rejected request, for audit and metrics, not for the caller. */
export class RejectionCause extends Error {
  /** The name of an existing user. Any other entered name may be a password, and is not logged. */
  readonly user: string | undefined
  /** The identity provider of the login. */
  readonly provider: string | undefined

  constructor(why: string, { user, provider, cause }: ErrorContext = {}) {
    super(why, cause === undefined ? undefined : { cause })
    this.name = 'RejectionCause'
    this.user = user
    this.provider = provider
  }
}

type ErrorContext = {
  readonly user?: string | undefined
  readonly provider?: string
  /** The underlying error, only for the log. */
  readonly cause?: unknown
}

type OAuthErrorExtras = ErrorContext & {
  readonly headers?: Readonly<Record<string, string>>
  readonly why?: string
}

/** Creates an error of the token endpoint (RFC 6749 section 5.2). @param description or '' */
export function oauthError(
  code: number,
  reason: OAuthReason,
  description: string,
  { headers = {}, why = reason, ...about }: OAuthErrorExtras = {},
): Status {
  return new Status(code, reason, description, { headers, cause: new RejectionCause(why, about) })
}

export function invalidRequest(description: string, extras?: OAuthErrorExtras): Status {
  return oauthError(400, 'invalid_request', description, extras)
}

export function invalidGrant(description: string, extras?: OAuthErrorExtras): Status {
  return oauthError(400, 'invalid_grant', description, extras)
}

/** The OAuth error codes, which clients may see. */
export const oauthReasons: ReadonlySet<string> = new Set<OAuthReason>([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'login_required',
  'consent_required',
  'interaction_required',
  'access_denied',
  'unsupported_response_type',
  'request_not_supported',
  'request_uri_not_supported',
  'authorization_pending',
  'slow_down',
  'expired_token',
  'invalid_target',
])

/** Writes a thrown value as an OAuth error, without details of internal errors. */
export function renderOAuth(res: Response, error: unknown): Status {
  // An invalid bearer token gets a Kubernetes Status on every path, also of OAuth.
  if (error instanceof Status && error.reason === 'Unauthorized') return renderKube(res, error)
  const status = toOAuth(error)
  res.set({ ...status.headers, 'cache-control': 'no-store', pragma: 'no-cache' })
  res.status(status.code).json({ error: status.reason, ...errorDescription(status) })
  return status
}

/**
 * Returns the error_description, if there is one. RFC 6749 section 5.2 allows printable ASCII
 * without quotes and backslashes, and messages of libraries have them.
 */
export function errorDescription({ message }: Status): { readonly error_description?: string } {
  const description = message.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, '?')
  return description === '' ? {} : { error_description: description }
}

/** Converts a thrown value to an error that the caller may see. */
export function toOAuth(error: unknown): Status {
  const isMeant =
    error instanceof Status && (oauthReasons.has(error.reason) || error.reason === 'Unauthorized')
  if (isMeant) return error
  if (error instanceof Status && (error.code === 503 || error.code === 429)) {
    return new Status(503, 'temporarily_unavailable', 'try again in a moment', {
      cause: error,
      headers: { 'retry-after': error.headers['retry-after'] ?? '1' },
    })
  }
  return new Status(500, 'server_error', '', { cause: error })
}

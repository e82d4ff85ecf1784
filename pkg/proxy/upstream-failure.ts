import { badRequest, Status } from '../apierrors/status.ts'

/**
 * Converts a failure of an upstream server to a Status. Proxy-Status (RFC 9209) marks errors of the
 * proxy; a 502, 503 or 504 of the upstream server itself is passed on without it.
 *
 * @param upstream name of the server in the message
 */
export function upstreamFailure(upstream: string, error: unknown): Status {
  // The caller sent an invalid request, so the upstream server was not contacted.
  if (error instanceof Error && errorCode(error) === 'REQUEST_INVALID') return badRequest(error.message)
  const { code, reason, token, text } = classify(error)
  return new Status(code, reason, `${upstream} ${text}`, {
    cause: error,
    details: { retryAfterSeconds: 1 },
    headers: { 'retry-after': '1', 'proxy-status': `kapis; error=${token}` },
  })
}

type Failure = {
  readonly code: number
  readonly reason: 'ServiceUnavailable' | 'Timeout'
  /** Error type of Proxy-Status (RFC 9209 section 2.3). */
  readonly token: string
  readonly text: string
}

const silent = { code: 503, reason: 'ServiceUnavailable', text: 'is not responding' } as const
const broken = {
  code: 502,
  reason: 'ServiceUnavailable',
  text: 'closed the connection before the response was complete',
} as const
const slow = { code: 504, reason: 'Timeout', text: 'did not respond in time' } as const

const uncertified = { code: 503, reason: 'ServiceUnavailable', token: 'tls_certificate_error' } as const
const expiredCertificate = {
  ...uncertified,
  text: 'has a certificate that is not valid at this time',
} as const
const otherCa = { ...uncertified, text: 'has a certificate that the expected CA has not signed' } as const

const terminated = { ...broken, token: 'connection_terminated' } as const

/** By error code of the operating system, of undici, or of this package. */
const failures: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: { ...silent, token: 'connection_refused' },
  ENOTFOUND: { ...silent, token: 'dns_error' },
  EAI_AGAIN: { ...silent, token: 'dns_error' },
  EHOSTUNREACH: { ...silent, token: 'destination_ip_unroutable' },
  ENETUNREACH: { ...silent, token: 'destination_ip_unroutable' },
  ETIMEDOUT: { ...silent, token: 'connection_timeout' },
  UND_ERR_CONNECT_TIMEOUT: { ...silent, token: 'connection_timeout' },
  ECONNRESET: terminated,
  EPIPE: terminated,
  UND_ERR_SOCKET: terminated,
  UND_ERR_CLOSED: terminated,
  UND_ERR_DESTROYED: terminated,
  UND_ERR_HEADERS_TIMEOUT: { ...slow, token: 'http_response_timeout' },
  UND_ERR_BODY_TIMEOUT: { ...slow, token: 'http_response_timeout' },
  UND_ERR_HEADERS_OVERFLOW: { ...broken, token: 'http_response_header_section_size' },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { ...broken, token: 'http_protocol_error' },
  CERT_HAS_EXPIRED: expiredCertificate,
  CERT_NOT_YET_VALID: expiredCertificate,
  CERT_SIGNATURE_FAILURE: otherCa,
  DEPTH_ZERO_SELF_SIGNED_CERT: otherCa,
  SELF_SIGNED_CERT_IN_CHAIN: otherCa,
  UNABLE_TO_GET_ISSUER_CERT: otherCa,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: otherCa,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: otherCa,
  ERR_TLS_CERT_ALTNAME_INVALID: { ...uncertified, text: 'has a certificate for another name' },
  UPSTREAM_REDIRECT: { ...broken, text: 'redirects, which is not supported', token: 'http_protocol_error' },
  UPSTREAM_PROTOCOL: { ...broken, token: 'http_protocol_error' },
}

function classify(error: unknown): Failure {
  const code = errorCode(error)
  const known = failures[code]
  if (known) return known
  if (/^(ERR_TLS|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/.test(code))
    return { ...silent, token: 'tls_certificate_error' }
  const name = error instanceof Error ? error.name : ''
  if (name === 'SyntaxError')
    return { ...broken, text: 'returned a response that is not valid JSON', token: 'http_protocol_error' }
  if (name === 'TimeoutError') return { ...slow, token: 'http_response_timeout' }
  // undici does not set the code of this error in all cases.
  if (name === 'HTTPParserError') return { ...broken, token: 'http_protocol_error' }
  return { ...silent, token: 'destination_unavailable' }
}

/** Returns whether a pooled connection was closed before the server got the request. */
export function isStaleConnection(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET'
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

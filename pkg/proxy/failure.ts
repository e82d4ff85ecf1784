import { badRequest, Status } from '../status/status.ts'

/**
 * An upstream that did not answer, as the caller is told. Proxy-Status (RFC 9209) says that it is the proxy who speaks:
 * an upstream's own 502, 503 or 504 is passed on without it.
 *
 * @param upstream what does not answer, in words
 */
export function upstreamFailure(upstream: string, error: unknown): Status {
  // It never left here, and is the caller's own.
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
  /** Section 2.3 of RFC 9209. */
  readonly token: string
  readonly text: string
}

const silent = { code: 503, reason: 'ServiceUnavailable', text: 'does not answer' } as const
const broken = { code: 502, reason: 'ServiceUnavailable', text: 'broke off its answer' } as const
const slow = { code: 504, reason: 'Timeout', text: 'did not answer in time' } as const

const failures: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: { ...silent, token: 'connection_refused' },
  ENOTFOUND: { ...silent, token: 'dns_error' },
  EAI_AGAIN: { ...silent, token: 'dns_error' },
  EHOSTUNREACH: { ...silent, token: 'destination_ip_unroutable' },
  ENETUNREACH: { ...silent, token: 'destination_ip_unroutable' },
  UPSTREAM_CONNECT_TIMEOUT: { ...silent, token: 'connection_timeout' },
  ETIMEDOUT: { ...silent, token: 'connection_timeout' },
  ECONNRESET: { ...broken, token: 'connection_terminated' },
  EPIPE: { ...broken, token: 'connection_terminated' },
  UPSTREAM_CLOSED: { ...broken, token: 'connection_terminated' },
  UPSTREAM_HEAD_TIMEOUT: { ...slow, token: 'http_response_timeout' },
  UPSTREAM_BODY_TIMEOUT: { ...slow, token: 'http_response_timeout' },
  UPSTREAM_HEAD_TOO_LARGE: { ...broken, token: 'http_response_header_section_size' },
}

function classify(error: unknown): Failure {
  const code = errorCode(error)
  const known = failures[code]
  if (known) return known
  // The parser of node:http, which reads what answers an upgrade, has codes of its own.
  if (code === 'UPSTREAM_PROTOCOL' || code.startsWith('HPE_'))
    return { ...broken, token: 'http_protocol_error' }
  if (/^(ERR_TLS|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/.test(code))
    return { ...silent, token: 'tls_certificate_error' }
  return { ...silent, token: 'destination_unavailable' }
}

/** Whether a connection that had stood idle turned out to be closed: nobody has seen the request. */
export function isStaleConnection(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'UPSTREAM_CLOSED'
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Why an upstream did not answer, or not to the end; errors of the system keep their own codes. */
export type UpstreamErrorCode =
  | 'UPSTREAM_CONNECT_TIMEOUT'
  | 'UPSTREAM_CLOSED'
  | 'UPSTREAM_HEAD_TIMEOUT'
  | 'UPSTREAM_BODY_TIMEOUT'
  | 'UPSTREAM_HEAD_TOO_LARGE'
  | 'UPSTREAM_PROTOCOL'
  | 'REQUEST_INVALID'
  | 'REQUEST_BROKEN_OFF'

export function upstreamError(code: UpstreamErrorCode, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { code })
}

export function invalidAnswer(what: string): Error {
  return upstreamError('UPSTREAM_PROTOCOL', `the upstream's answer is not valid HTTP: ${what}`)
}

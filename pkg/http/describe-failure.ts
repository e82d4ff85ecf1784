/** The cause of a failed request. */
export type Failure = {
  /** `certificate`: no trusted CA issued it; `host`: it is for another host name. */
  readonly kind: 'certificate' | 'host' | 'other'
  readonly message: string
}

const untrusted = new Set([
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'INVALID_CA',
])

/** Converts an error of {@link HttpClient} to a message for users. */
export function describeFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { kind: 'other', message: String(error) }
  // If several addresses were tried, each has its own error.
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors[0])
  const code = 'code' in error ? String(error.code) : ''
  // Removes a hint about options of Node.js, which users of Kapis cannot set.
  const message = error.message.replace(/; if the root CA is installed locally.*$/, '')
  if (untrusted.has(code)) return { kind: 'certificate', message }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return { kind: 'host', message: error.message }
  if (error.name === 'TimeoutError') return { kind: 'other', message: 'no response in time' }
  const [, status] = /^Proxy response \((\d{3})\)/.exec(error.message) ?? []
  if (status !== undefined)
    return { kind: 'other', message: `the proxy refused the connection with ${status}` }
  if (error.cause !== undefined && error.cause !== error && error.message === '')
    return describeFailure(error.cause)
  return { kind: 'other', message: error.message || code || error.name }
}

import { expect } from 'chai'
import { isStaleConnection, upstreamFailure } from './upstream-failure.ts'

function errorWith(code: string): Error {
  return Object.assign(new Error(`secret detail of ${code}`), { code })
}

describe('upstreamFailure', () => {
  const cases: readonly (readonly [
    code: string,
    status: number,
    reason: string,
    token: string,
    text: string,
  ])[] = [
    ['ECONNREFUSED', 503, 'ServiceUnavailable', 'connection_refused', 'it is not responding'],
    ['ENOTFOUND', 503, 'ServiceUnavailable', 'dns_error', 'it is not responding'],
    ['UND_ERR_CONNECT_TIMEOUT', 503, 'ServiceUnavailable', 'connection_timeout', 'it is not responding'],
    ...(
      [
        ['CERT_HAS_EXPIRED', 'it has a certificate that is not valid at this time'],
        ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'it has a certificate that the expected CA has not signed'],
        ['CERT_SIGNATURE_FAILURE', 'it has a certificate that the expected CA has not signed'],
        ['ERR_TLS_CERT_ALTNAME_INVALID', 'it has a certificate for another name'],
        ['CERT_REVOKED', 'it is not responding'],
      ] as const
    ).map(([code, text]) => [code, 503, 'ServiceUnavailable', 'tls_certificate_error', text] as const),
    [
      'UPSTREAM_REDIRECT',
      502,
      'ServiceUnavailable',
      'http_protocol_error',
      'it redirects, which is not supported',
    ],
    ['SOMETHING_ELSE', 503, 'ServiceUnavailable', 'destination_unavailable', 'it is not responding'],
    [
      'ECONNRESET',
      502,
      'ServiceUnavailable',
      'connection_terminated',
      'it closed the connection before the response was complete',
    ],
    [
      'UND_ERR_SOCKET',
      502,
      'ServiceUnavailable',
      'connection_terminated',
      'it closed the connection before the response was complete',
    ],
    [
      'UPSTREAM_PROTOCOL',
      502,
      'ServiceUnavailable',
      'http_protocol_error',
      'it closed the connection before the response was complete',
    ],
    ['UND_ERR_BODY_TIMEOUT', 504, 'Timeout', 'http_response_timeout', 'it did not respond in time'],
    [
      'UND_ERR_HEADERS_OVERFLOW',
      502,
      'ServiceUnavailable',
      'http_response_header_section_size',
      'it closed the connection before the response was complete',
    ],
    [
      'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
      502,
      'ServiceUnavailable',
      'http_protocol_error',
      'it closed the connection before the response was complete',
    ],
    ['UND_ERR_HEADERS_TIMEOUT', 504, 'Timeout', 'http_response_timeout', 'it did not respond in time'],
  ]
  it('is 400 if the request cannot be forwarded', () => {
    const cause = Object.assign(new Error('the request cannot be proxied: invalid Content-Length'), {
      code: 'REQUEST_INVALID',
    })
    const { code, message, headers } = upstreamFailure('it', cause)
    expect([code, message, headers]).to.deep.equal([
      400,
      'the request cannot be proxied: invalid Content-Length',
      {},
    ])
  })

  for (const [name, status, token] of [
    ['SyntaxError', 502, 'http_protocol_error'],
    ['HTTPParserError', 502, 'http_protocol_error'],
    ['TimeoutError', 504, 'http_response_timeout'],
  ] as const) {
    it(`maps ${name} to ${status} with ${token}`, () => {
      const { code, headers } = upstreamFailure('it', Object.assign(new Error('x'), { name }))
      expect([code, headers['proxy-status']]).to.deep.equal([status, `kapis; error=${token}`])
    })
  }

  for (const [code, status, reason, token, text] of cases) {
    it(`maps ${code} to ${status} with ${token}`, () => {
      const cause = errorWith(code)
      expect(upstreamFailure('it', cause)).to.deep.include({
        code: status,
        reason,
        // The cause is only logged.
        message: text,
        cause,
        details: { retryAfterSeconds: 1 },
        headers: { 'retry-after': '1', 'proxy-status': `kapis; error=${token}` },
      })
    })
  }
})

describe('isStaleConnection', () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
    it(`returns true for ${code}`, () => expect(isStaleConnection(errorWith(code))).to.equal(true))
  for (const error of [
    errorWith('ECONNREFUSED'),
    errorWith('UND_ERR_HEADERS_TIMEOUT'),
    new Error('x'),
    undefined,
  ])
    it(`returns false for ${error}`, () => expect(isStaleConnection(error)).to.equal(false))
})

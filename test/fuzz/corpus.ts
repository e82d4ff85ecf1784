/**
 * Raw requests to which a past version of kapis-apiserver responded wrongly, with the correct
 * response. {token} is replaced by a token of the administrator.
 */
export const corpus: readonly {
  readonly what: string
  readonly bytes: string
  readonly codes: readonly number[]
}[] = [
  {
    what: 'an error after a complete request replaced its response',
    bytes:
      'GET /api/v1/namespaces/default HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n{"not": "a request"}\r\n\r\n',
    codes: [200],
  },
  {
    what: 'kapis-oauth rejected a head that kapis-apiserver takes, without a body',
    bytes: `GET /oauth/userinfo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${'A'.repeat(20_000)}\r\n\r\n`,
    codes: [401],
  },
]

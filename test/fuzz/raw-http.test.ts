import { expect } from 'chai'
import fc from 'fast-check'
import { accessToken, sendToKapis } from '../e2e/cluster.ts'
import { sendRaw } from '../e2e/raw-https.ts'
import { pidOf } from '../faults/process.ts'
import { corpus } from './corpus.ts'
import { bounds, propertyTimeoutMs } from './fuzz-parameters.ts'

/** A part of a request, and whether RFC 9112 allows it there. */
type RequestPiece = { readonly text: string; readonly isGood: boolean }

const good = (text: string): RequestPiece => ({ text, isGood: true })
const bad = (text: string): RequestPiece => ({ text, isGood: false })

const marker = 'GET /version HTTP/1.1\r\nHost: hidden\r\n\r\n'

const lines: readonly RequestPiece[] = [
  ...['X-A: b', 'X-A:b', 'X-A:', 'X-A: \t b \t', 'x-a: \xff\xfe', `X-A: ${'y'.repeat(20_000)}`].map(good),
  ...[
    'Range: bytes=0-',
    'Cookie: a=b',
    'Accept: */*;q=x',
    'Accept-Encoding: gzip;q=9',
    'X-Forwarded-For: ::1',
  ].map(good),
  ...[
    'If-Modified-Since: never',
    'Accept-Encoding: deflate, br, zstd',
    'Impersonate-User: ',
    'Audit-Id: \x80',
  ].map(good),
  ...[
    'X-A : b',
    ' X-A: b',
    'X-A',
    ': b',
    'X\tA: b',
    'X-A: b\rX-B: c',
    'X-A: b\0',
    'X(A): b',
    'X-\xe4: b',
  ].map(bad),
  ...['Host: b', 'Transfer-Encoding : chunked', 'Content-Length : 5', 'Transfer\u0000-Encoding: chunked'].map(
    bad,
  ),
]

type Framing = { readonly lines: string; readonly body: string; readonly isGood: boolean }

// The marker is inside the declared body: a server that responds to it has parsed the headers
// differently.
const whole = `${marker.length.toString(16)}\r\n${marker}\r\n0\r\n\r\n`
const framings: readonly Framing[] = [
  { lines: '', body: '', isGood: true },
  { lines: `Content-Length: ${marker.length}\r\n`, body: marker, isGood: true },
  { lines: `content-LENGTH:${marker.length}\r\n`, body: marker, isGood: true },
  { lines: 'Transfer-Encoding: chunked\r\n', body: whole, isGood: true },
  { lines: 'Transfer-Encoding: Chunked\r\n', body: whole, isGood: true },
  ...[
    ['Content-Length: 0\r\nContent-Length: 5\r\n', marker],
    ['Content-Length: 5, 5\r\n', marker],
    ['Content-Length: 0x0\r\n', marker],
    ['Content-Length: -0\r\n', marker],
    ['Content-Length: 1e1\r\n', marker],
    ['Content-Length: 99999999999999999999\r\n', marker],
    ['Content-Length: \x0b0\r\n', marker],
    ['Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${marker}`],
    ['Transfer-Encoding: identity\r\n', marker],
    ['Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${marker}`],
    ['Transfer-Encoding: chunked\r\n', `g\r\n${marker}`],
    ['Transfer-Encoding: chunked\r\n', `-1\r\n${marker}`],
    ['Transfer-Encoding: chunked\r\n', `5 \r\nabcde\r\n0\r\n\r\n${marker}`],
    ['Transfer-Encoding: chunked\r\n', `1\r\nabcde\r\n0\r\n\r\n${marker}`],
    ['Transfer-Encoding: chunked\r\n', `1\na\n0\n\n${marker}`],
    ['Transfer-Encoding: chunked\r\n', `ffffffffffffffffff\r\n${marker}`],
  ].map(([head = '', body = '']) => ({ lines: head, body, isGood: false })),
]

const method = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom(...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].map(good)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...['get', 'G\tT', '', 'GE T', 'FOO', '\x80'].map(bad)) },
)
const target = fc.oneof(
  fc.constantFrom(
    ...['/', '/livez', '/version', '/api/v1/nodes?limit=1', '/kapis', '/oauth/token', '/oauth/keys', '/apis'],
    ...[
      '/kapis/resources.kapis.io/v1alpha3/nodes',
      '/openapi/v2',
      '/metrics',
      '/metrics/oauth',
      '/%ff',
      '//',
      '/a/../b',
      '/?%',
      '*',
    ],
    ...['/kapis/tenant.kapis.io/v1alpha2/logs?q=%22', `/${'a'.repeat(5_000)}`, `/?${'a=b&'.repeat(3_000)}`],
  ),
  fc.webPath().map(path => path || '/'),
)
const version = fc.oneof(
  { weight: 8, arbitrary: fc.constant(good('HTTP/1.1')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 '].map(bad)),
  },
)
const request = fc.record({
  method,
  target,
  version,
  headers: fc.array(fc.constantFrom(...lines), { maxLength: 3 }),
  framing: fc.constantFrom(...framings),
  withToken: fc.boolean(),
})

describe('kapis-apiserver with random bytes', function () {
  this.timeout(propertyTimeoutMs)
  let token = ''
  let pid = 0

  before(async () => {
    token = await accessToken()
    pid = pidOf('apiserver')
  })
  after(async () => {
    // The process must not have been restarted either.
    expect(pidOf('apiserver')).to.equal(pid)
    expect((await sendToKapis('/livez')).code).to.equal(200)
  })

  it('never parses a second request out of the first, and answers no 5xx but for unsupported features', () =>
    fc.assert(
      fc.asyncProperty(request, async given => {
        const headers = given.headers.map(({ text }) => `${text}\r\n`).join('')
        const authorization = given.withToken ? `Authorization: Bearer ${token}\r\n` : ''
        const bytes =
          `${given.method.text} ${given.target} ${given.version.text}\r\nHost: a\r\nConnection: close\r\n` +
          `${authorization}${headers}${given.framing.lines}\r\n${given.framing.body}`
        const parts = [given.method, given.version, ...given.headers, given.framing]
        const isValid = parts.every(({ isGood }) => isGood)
        // An incomplete request gets no response. A complete one does, but it may take long on a
        // busy machine.
        const { codes, text } = await sendRaw(bytes, 500, { timeoutMs: isValid ? 20_000 : 2_000 })
        // 501 is allowed for methods and transfer codings, and 505 for versions.
        const isKnown = given.method.isGood && given.framing.isGood
        check(codes, text, given.target, [...(isKnown ? [] : [501]), ...(given.version.isGood ? [] : [505])])
        if (isValid) expect(codes, bytes).to.have.length(1)
      }),
      bounds(60),
    ))

  it('does the same for random bytes, by themselves and after the beginning of a request', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          '',
          'GET ',
          'GET / HTTP/1.1\r\n',
          'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
        ),
        fc.uint8Array({ minLength: 1, maxLength: 400 }),
        async (begin, bytes) => {
          const { codes, text } = await sendRaw(
            `${begin}${Buffer.from(bytes).toString('latin1')}\r\n\r\n`,
            300,
            {
              timeoutMs: 1_000,
            },
          )
          // A request line without a version is one of HTTP/0.9.
          check(codes, text, '/', [505])
        },
      ),
      bounds(25),
    ))

  for (const { what, bytes, codes } of corpus) {
    it(`handles a previous finding: ${what}`, async () => {
      const spoken = await sendRaw(bytes.replace('{token}', token), 2_000, { timeoutMs: 10_000 })
      expect(spoken.codes, spoken.text.slice(0, 500)).to.deep.equal(codes)
      check(spoken.codes, spoken.text, '')
    })
  }
})

function check(
  codes: readonly number[],
  text: string,
  target: string,
  serverErrors: readonly number[] = [],
): void {
  expect(codes.length, text.slice(0, 1_000)).to.be.at.most(1)
  for (const code of codes)
    if (!serverErrors.includes(code)) expect(code, text.slice(0, 1_000)).to.be.within(200, 499)
  // Documents of the API name the field too, but without a value.
  if (!target.startsWith('/version')) expect(text).to.not.match(/"gitVersion": ?"/)
  const [head = '', ...body] = text.split('\r\n\r\n')
  const isJson = /^content-type: application\/json/im.test(head)
  const isWhole = /^content-length: \d+/im.test(head)
  if (codes[0] !== undefined && codes[0] >= 400 && isJson && isWhole && body.join('') !== '') {
    const response = JSON.parse(body.join('\r\n\r\n'))
    expect(response.kind === 'Status' ? response.code : typeof response.error, text).to.be.oneOf([
      codes[0],
      'string',
    ])
  }
}

import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { expect } from 'chai'
import { accessToken } from './cluster.ts'
import { askRaw, groupDomain } from './http.ts'
import { sendRaw } from './raw-https.ts'
import { setting } from './run.ts'

describe('hostile requests', function () {
  this.timeout(60_000)
  let token: string
  let auth: string
  before(async () => {
    token = await accessToken()
    auth = `Authorization: Bearer ${token}\r\n`
  })

  // A request smuggled in the body of another one. Kapis must never respond to it.
  const hidden = 'GET /version HTTP/1.1\r\nHost: hidden\r\n\r\n'
  const post = 'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\n'

  const refused: readonly (readonly [what: string, bytes: () => string])[] = [
    [
      'both Content-Length and Transfer-Encoding',
      () => `${post}${auth}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'Transfer-Encoding before Content-Length',
      () => `${post}${auth}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'two Content-Length headers',
      () => `${post}${auth}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    ['a list of lengths in one header', () => `${post}${auth}Content-Length: 0, 0\r\n\r\n${hidden}`],
    ['a length with a plus sign', () => `${post}${auth}Content-Length: +0\r\n\r\n${hidden}`],
    ['a negative length', () => `${post}${auth}Content-Length: -1\r\n\r\n${hidden}`],
    ['a length that is not a number', () => `${post}${auth}Content-Length: 0x10\r\n\r\n${hidden}`],
    [
      'a transfer coding after chunked',
      () => `${post}${auth}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'a space before the colon',
      () => `${post}${auth}Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'a folded header',
      () => `${post}${auth}X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n${hidden}`,
    ],
    [
      'a folded framing header',
      () => `${post}${auth}Transfer-Encoding:\r\n chunked\r\nContent-Length: 0\r\n\r\n${hidden}`,
    ],
    ['a bare line feed in the request head', () => `${post}${auth}X-A: b\nX-B: c\r\n\r\n`],
    ['a carriage return in a value', () => `${post}${auth}X-A: b\rc\r\n\r\n`],
    ['a zero byte in a value', () => `${post}${auth}X-A: b\0c\r\n\r\n`],
    [
      'a lone carriage return as a line terminator (CVE-2023-30589)',
      () => `${post}${auth}X-A: b\rTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'a space before the name Content-Length (CVE-2024-27982)',
      () => `${post} Content-Length: 5\r\n${auth}\r\n${hidden}`,
    ],
    ['a missing Host header', () => `GET /api/v1/nodes HTTP/1.1\r\n${auth}\r\n`],
    ['two Host headers', () => `GET /api/v1/nodes HTTP/1.1\r\nHost: a\r\nHost: b\r\n${auth}\r\n`],
    ['an invalid method', () => `GE T /api/v1/nodes HTTP/1.1\r\nHost: a\r\n${auth}\r\n`],
    ['another protocol than HTTP', () => 'SSH-2.0-OpenSSH_9.2\r\n'],
    [
      'a URL with user information as the target',
      () => `GET https://u@a/api/v1/nodes HTTP/1.1\r\nHost: a\r\n${auth}\r\n`,
    ],
    ['non-ASCII bytes in the target', () => `GET /api/v1/n\xc3\xb6des HTTP/1.1\r\nHost: a\r\n${auth}\r\n`],
    ['a fragment in the target', () => `GET /api/v1/nodes#x HTTP/1.1\r\nHost: a\r\n${auth}\r\n`],
  ]
  for (const [what, bytes] of refused) {
    it(`${what} is rejected with 400, and nothing after it is parsed as a request`, async () => {
      const { codes, text } = await sendRaw(bytes())
      expect(codes, text).to.deep.equal([400])
      expect(text).to.not.include('gitVersion')
    })
  }

  it('an unknown transfer coding is rejected with 501, and nothing after it is parsed as a request', async () => {
    const bytes = () => `${post}${auth}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`
    const { codes, text } = await sendRaw(bytes())
    expect(codes, text).to.deep.equal([501])
    expect(text)
      .to.match(/^connection: close\r$/im)
      .and.not.include('gitVersion')
  })

  const brokenChunks: readonly (readonly [what: string, body: string])[] = [
    ['a chunk size that is not a number', 'zz\r\n{}\r\n0\r\n\r\n'],
    ['a chunk longer than its size', '1\r\n{}\r\n0\r\n\r\n'],
    ['a chunk size that is not a safe integer', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
    ['a chunk size that ends in a bare line feed', '2\n{}\r\n0\r\n\r\n'],
    ['an unlimited chunk extension (CVE-2024-22019)', `2;${'x'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`],
    ['a line feed in a chunk extension (CVE-2021-22960)', '2;x\n{}\r\n0\r\n\r\n'],
    ['a trailer that is not a header', '2\r\n{}\r\n0\r\nno header\r\n\r\n'],
  ]
  for (const [what, body] of brokenChunks) {
    it(`${what} closes the connection`, async () => {
      const head = `${post}${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
      const { codes, text } = await sendRaw(`${head}${body}${hidden}`)
      expect(codes.length, text).to.be.at.most(1)
      for (const code of codes) expect(code).to.be.oneOf([400, 413, 502])
      expect(text).to.not.include('gitVersion')
    })
  }

  it('too large request headers are rejected with 431', async () => {
    const { codes } = await sendRaw(
      `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(2 * 1024 * 1024)}\r\n\r\n`,
    )
    expect(codes).to.deep.equal([431])
  })

  it('pipelined requests are answered in order, each with its own identity', async () => {
    const first = `GET /api/v1/namespaces/default HTTP/1.1\r\nHost: a\r\n${auth}\r\n`
    const second = 'GET /api/v1/namespaces/default HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    expect((await sendRaw(first + second, 5_000)).codes).to.deep.equal([200, 401])
  })

  it('a body is forwarded even if its request offers an upgrade', async () => {
    const path = '/api/v1/namespaces/default/configmaps'
    const name = `offered-${Date.now().toString(36)}`
    const offer = `Host: a\r\n${auth}Content-Type: application/json\r\nConnection: Upgrade\r\nUpgrade: foo\r\n`
    const object = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    const made = await sendRaw(
      `POST ${path} HTTP/1.1\r\n${offer}Content-Length: ${object.length}\r\n\r\n${object}`,
    )
    expect(made.codes, made.text).to.deep.equal([201])
    const dryRun = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] })
    const chunk = `${dryRun.length.toString(16)}\r\n${dryRun}\r\n0\r\n\r\n`
    const tried = await sendRaw(
      `DELETE ${path}/${name} HTTP/1.1\r\n${offer}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    )
    expect(tried.codes, tried.text).to.deep.equal([200])
    const gone = await askRaw(`${path}/${name}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(gone.code).to.equal(200)
  })

  it('a pipelined upgrade does not crash the server', async () => {
    const upgrade = 'GET /api/v1/nodes HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n'
    for (const first of ['Host: a\r\n', '', 'Host: a\r\nExpect: x\r\n'])
      await sendRaw(`GET /version HTTP/1.1\r\n${first}\r\n${upgrade}`)
    expect((await sendRaw('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')).codes).to.deep.equal([200])
  })

  it('a length that is not a safe integer is rejected with 400', async () => {
    const { codes, text } = await sendRaw(
      `${post}${auth}Content-Type: application/json\r\nContent-Length: 1000000000000000000\r\n\r\n{`,
    )
    expect(codes, text).to.deep.equal([400])
    expect(text).to.include('the request cannot be proxied: invalid Content-Length')
  })

  const roots = [
    '/api/v1/namespaces/default',
    '/apis/apps/v1/namespaces/default',
    `/kapis/resources.${groupDomain}/v1alpha3`,
    '/oauth',
    '/healthz',
    '',
  ]
  const tricks = [
    '//secrets',
    '/../../../../healthz',
    '/./secrets',
    '/%2e%2e/secrets',
    '/%2E./secrets',
    '/.%2e',
    '/a%2fb',
    '/a%2Fb',
    '/a%5cb',
    '/a\\b',
    '/a%00b',
    '/a%00',
    '/%0d%0aX-A:%20b',
    '/a%7f',
    '/%c0%af..',
    '/%c0%ae%c0%ae/secrets',
    '/%e0%80%af',
    '/%f0%80%80%af',
    '/%ed%a0%80',
    '/%ff',
    '/%',
    '/%zz',
  ]
  for (const root of roots) {
    it(`no encoding of a path bypasses the authorization of kapis-apiserver below ${root || '/'}`, async () => {
      for (const trick of tricks) {
        const { code, body, headers } = await askRaw(root + trick, {
          headers: { authorization: `Bearer ${token}` },
        })
        expect([code, JSON.parse(body).reason], root + trick).to.deep.equal([400, 'BadRequest'])
        expect(headers['content-type']).to.equal('application/json')
      }
    })
  }

  it('a doubly encoded path is decoded once, as in kube-apiserver', async () => {
    const { code, body } = await askRaw('/api/v1/namespaces/default/configmaps/a%252fb', {
      headers: { authorization: `Bearer ${token}` },
    })
    expect([code, JSON.parse(body).message]).to.deep.equal([
      400,
      `Name parameter invalid: "a%2fb": may not contain '%'`,
    ])
  })

  it('CONNECT is rejected with 405, and OPTIONS * gets an empty response', async () => {
    expect((await sendRaw(`CONNECT a:443 HTTP/1.1\r\nHost: a\r\n${auth}\r\n`)).codes).to.deep.equal([405])
    expect((await sendRaw(`OPTIONS * HTTP/1.1\r\nHost: a\r\n${auth}\r\n`)).codes).to.deep.equal([200])
  })

  it('TRACE does not return the request', async () => {
    const { codes, text } = await sendRaw(`TRACE /api/v1/nodes HTTP/1.1\r\nHost: a\r\n${auth}\r\n`)
    expect(codes[0]).to.be.at.least(400)
    expect(text).to.not.include(token)
  })

  it('Expect: 100-continue is answered, and the body is forwarded', async () => {
    const { hostname, port } = new URL(setting('KAPIS_URL'))
    const name = `continued-${Date.now().toString(36)}`
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
    const req = request(
      {
        ...{ hostname, port, method: 'POST', path: '/api/v1/namespaces/default/configmaps?dryRun=All' },
        ca: readFileSync(setting('KAPIS_CA')),
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          expect: '100-continue',
        },
      },
      res => resolve(res.resume().statusCode),
    )
    req.on('error', reject)
    req.on('continue', () => req.end(JSON.stringify({ metadata: { name } })))
    req.flushHeaders()
    expect(await promise).to.equal(201)
  })
})

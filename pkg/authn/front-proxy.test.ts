import { hash, X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import { expect } from 'chai'
import forge from 'node-forge'
import { Status } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { createCa, issueCertificate, type KeyPair } from '../certs/issue.ts'
import { type AuthenticationConfig, parseAuthenticationConfig } from './authentication-config.ts'
import { createClientCertificateAuthenticator } from './client-certificate.ts'
import { createFrontProxyAuthenticator } from './front-proxy.ts'

const day = 24 * 3600_000
const proxyAuthority = createCa({ commonName: 'front-proxy-ca', validityDays: 2 })
const clientAuthority = createCa({ commonName: 'client-ca', validityDays: 2 })
// A CA with the same subject and another key, which an attacker can create.
const forgedAuthority = createCa({ commonName: 'front-proxy-ca', validityDays: 2 })
const serving = issueCertificate(clientAuthority, {
  commonName: 'localhost',
  dnsNames: ['localhost'],
  usages: ['server'],
  validityDays: 1,
})

const config: AuthenticationConfig = parseAuthenticationConfig({
  'client-ca-file': clientAuthority.certPem,
  'requestheader-client-ca-file': proxyAuthority.certPem,
  'requestheader-allowed-names': '["front-proxy-client"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-uid-headers': '["X-Remote-Uid"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
})

type Outcome = Identity | null | 401 | 403 | 503

describe('the identity from a client certificate, on a real TLS connection', () => {
  let server: Server
  let port = 0
  let current: AuthenticationConfig | undefined = config
  let outcome: { proxy: Outcome; client: Outcome } = { proxy: null, client: null }

  before(async () => {
    const proxy = createFrontProxyAuthenticator(() => current)
    const client = createClientCertificateAuthenticator(() => current)
    const send = (authenticator: typeof proxy, req: IncomingMessage): Outcome => {
      try {
        const found = authenticator.authenticate(req)
        return found instanceof Promise ? null : found
      } catch (error) {
        if (error instanceof Status && (error.code === 401 || error.code === 403 || error.code === 503))
          return error.code
        throw error
      }
    }
    server = createServer(
      {
        cert: serving.certPem,
        key: serving.keyPem,
        ca: [clientAuthority.certPem, proxyAuthority.certPem],
        requestCert: true,
        rejectUnauthorized: false,
      },
      (req, res) => {
        outcome = { proxy: send(proxy, req), client: send(client, req) }
        res.end()
      },
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  })
  beforeEach(() => {
    current = config
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  async function call(pair: KeyPair | undefined, headers: readonly string[] = []) {
    const identity = pair === undefined ? {} : { cert: pair.certPem, key: pair.keyPem }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const options = {
      host: '127.0.0.1',
      servername: 'localhost',
      port,
      agent: false,
      ca: clientAuthority.certPem,
      // OpenSSL would not even send weakly signed certificates.
      ciphers: 'DEFAULT:@SECLEVEL=0',
    }
    const req = request({ ...options, ...identity, headers: ['host', 'localhost', ...headers] }, res => {
      res.resume()
      res.on('end', resolve)
    })
    req.on('error', reject)
    req.end()
    await promise
    return outcome
  }

  const named = (commonName: string, more: object = {}) => ({
    commonName,
    usages: ['client'] as const,
    validityDays: 1,
    ...more,
  })
  const proxyPair = issueCertificate(proxyAuthority, named('front-proxy-client'))
  const spoof = ['X-Remote-User', 'admin', 'X-Remote-Group', 'system:masters']

  it('is taken from the headers of the front proxy', async () => {
    const { proxy } = await call(proxyPair, [
      ...['X-Remote-User', Buffer.from('jörg').toString('latin1')],
      ...['X-Remote-Group', 'a,b', 'x-remote-group', 'c', 'X-Remote-Uid', 'u-7'],
      ...['X-Remote-Extra-Example.org%2fScope', 'one', 'X-Remote-Extra-Example.org%2fScope', 'two'],
      ...['X-Remote-Extra-Bad%zz', 'kept'],
    ])
    expect(proxy).to.deep.equal({
      username: 'jörg',
      uid: 'u-7',
      groups: ['a,b', 'c'],
      extra: { 'example.org/scope': ['one', 'two'], 'bad%zz': ['kept'] },
      // This server uses HTTP/1.1, where spaces are stripped.
      isTrimmed: true,
    })
  })

  it('is rejected with bytes that are not UTF-8', async () => {
    for (const name of ['X-Remote-User', 'X-Remote-Group', 'X-Remote-Uid', 'X-Remote-Extra-a'])
      expect((await call(proxyPair, ['X-Remote-User', 'jane', name, 'a\xff'])).proxy, name).to.equal(403)
  })

  it('is rejected with an extra key that is not UTF-8', async () => {
    expect((await call(proxyPair, ['X-Remote-User', 'jane', 'X-Remote-Extra-%ff', 'x'])).proxy).to.equal(403)
  })

  it('may have extra keys named like properties of Object.prototype', async () => {
    const { proxy } = await call(proxyPair, ['X-Remote-User', 'jane', 'X-Remote-Extra-constructor', 'x'])
    expect(proxy).to.deep.include({ extra: { constructor: ['x'] } })
  })

  it('has a uid only if kube-apiserver declares that it sets the header', async () => {
    current = { ...config, uidHeaders: [] }
    const { proxy } = await call(proxyPair, ['X-Remote-User', 'jane', 'X-Remote-Uid', 'claimed'])
    expect(proxy).to.include({ username: 'jane', uid: '' })
  })

  it('is the same object for the same caller, so that it can be a cache key', async () => {
    const first = (await call(proxyPair, ['X-Remote-User', 'jane'])).proxy
    expect((await call(proxyPair, ['X-Remote-User', 'jane'])).proxy).to.equal(first)
  })

  it('may come from any common name if none is configured', async () => {
    current = { ...config, allowedNames: [] }
    const other = issueCertificate(proxyAuthority, named('anything'))
    expect((await call(other, spoof)).proxy).to.include({ username: 'admin' })
  })

  it('follows a new configuration on an open connection', async () => {
    current = { ...config, allowedNames: ['someone-else'] }
    expect((await call(proxyPair, spoof)).proxy).to.equal(null)
  })

  const notTheProxy: readonly (readonly [string, KeyPair | undefined, Outcome | 'user'])[] = [
    ['no certificate', undefined, null],
    [
      'a certificate of the client CA',
      issueCertificate(clientAuthority, named('front-proxy-client')),
      'user',
    ],
    [
      'a certificate of a forged CA of the same name',
      issueCertificate(forgedAuthority, named('front-proxy-client')),
      401,
    ],
    ['a certificate with another name', issueCertificate(proxyAuthority, named('mallory')), 401],
    [
      'a certificate for servers',
      issueCertificate(proxyAuthority, { ...named('front-proxy-client'), usages: ['server'] }),
      401,
    ],
    [
      'an expired certificate',
      issueCertificate(proxyAuthority, named('front-proxy-client', { now: new Date(Date.now() - 2 * day) })),
      401,
    ],
    [
      'a certificate that is not valid yet',
      issueCertificate(proxyAuthority, named('front-proxy-client', { now: new Date(Date.now() + day) })),
      401,
    ],
  ]
  for (const [what, pair, expected] of notTheProxy) {
    it(`is not taken from headers with ${what}`, async () => {
      const { proxy, client } = await call(pair, spoof)
      expect(proxy).to.equal(null)
      if (expected === 'user') expect(client).to.include({ username: 'front-proxy-client' })
      else expect(client).to.equal(expected)
    })
  }

  // 1.2.3.4 is no known extension, and RFC 5280 section 4.2 requires to reject such a critical one.
  const unknown = { id: '1.2.3.4', value: '\x05\x00' }
  const changes: readonly (readonly [
    string,
    Outcome | 'user',
    (certificate: forge.pki.Certificate) => void,
  ])[] = [
    ['an unknown extension', 'user', ({ extensions }) => extensions.push({ ...unknown, critical: false })],
    [
      'an unknown critical extension',
      401,
      ({ extensions }) => extensions.push({ ...unknown, critical: true }),
    ],
    ['a signature with SHA-1', 401, () => undefined],
    ['a signature with MD5', 401, () => undefined],
  ]
  const digests = { 'a signature with SHA-1': forge.md.sha1, 'a signature with MD5': forge.md.md5 }
  for (const [what, expected, change] of changes) {
    it(`is accepted or rejected as by kube-apiserver with ${what}`, async () => {
      const sign = Object.entries(digests).find(([name]) => name === what)?.[1] ?? forge.md.sha256
      const altered = (ca: KeyPair, pair: KeyPair): KeyPair => {
        const certificate = forge.pki.certificateFromPem(pair.certPem)
        change(certificate)
        certificate.sign(forge.pki.privateKeyFromPem(ca.keyPem), sign.create())
        return { ...pair, certPem: forge.pki.certificateToPem(certificate) }
      }
      const { client } = await call(
        altered(clientAuthority, issueCertificate(clientAuthority, named('jane'))),
      )
      const { proxy } = await call(altered(proxyAuthority, proxyPair), spoof)
      if (expected === 'user') {
        expect(client).to.include({ username: 'jane' })
        expect(proxy).to.include({ username: 'admin' })
      } else expect({ proxy, client }).to.deep.equal({ proxy: null, client: 401 })
    })
  }

  it('is that of the certificate itself if the user header is missing', async () => {
    const { proxy, client } = await call(proxyPair, ['X-Remote-Group', 'system:masters'])
    expect({ proxy, client }).to.deep.equal({ proxy: null, client: 401 })
  })

  it('has the user and groups of a client certificate', async () => {
    const pair = issueCertificate(clientAuthority, named('jane', { organizations: ['dev', 'ops'] }))
    const digest = hash('sha256', new X509Certificate(pair.certPem).raw)
    expect((await call(pair)).client).to.deep.equal({
      username: 'jane',
      uid: '',
      groups: ['dev', 'ops'],
      extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] },
    })
  })

  it('fails with 503 before the CAs are loaded, and is undefined without a certificate', async () => {
    current = undefined
    expect(await call(proxyPair, spoof)).to.deep.equal({ proxy: 503, client: 503 })
    expect(await call(undefined, spoof)).to.deep.equal({ proxy: null, client: null })
  })
})

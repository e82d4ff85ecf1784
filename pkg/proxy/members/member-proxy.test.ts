import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { closeServer, jane, type Loopback, portOf, startLoopback } from '../../apirequest/fixtures.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import { parseLine } from '../../apirequest/request-line.ts'
import { toUpgradeListener } from '../../apiserver/server/https-server.ts'
import { stripCredentials } from '../../authn/strip-credentials.ts'
import { type FakeKubeApiserver, respondJson, startFakeKubeApiserver } from '../../kubeclient/fixtures.ts'
import type { Member } from './member.ts'
import { createMemberProxy, type MemberProxy } from './member-proxy.ts'

type Listener = Parameters<typeof startFakeKubeApiserver>[0]

describe('createMemberProxy', function () {
  this.timeout(20_000)
  let respond: Listener
  let member: FakeKubeApiserver
  let proxy: MemberProxy
  let server: Loopback
  let upgrades: Server
  let identity: Identity
  const received: IncomingMessage[] = []
  const sockets = new Set<Duplex>()

  function connect(kapis: Member['kapis']): void {
    proxy = createMemberProxy({ name: 'm', kube: member.endpoint, kapis })
  }
  const serve = (req: IncomingMessage, res: Parameters<typeof renderKube>[0], upgrade?: Buffer) => {
    stripCredentials(req)
    const line = parseLine(req.method ?? 'GET', req.url ?? '/', undefined, 'all')
    const exchange = { req, res, id: 'id-1', ...line, identity, isAggregated: false }
    Promise.resolve()
      .then(() => proxy.forward(upgrade === undefined ? exchange : { ...exchange, upgrade }))
      .catch(error => renderKube(res, error))
  }

  before(async () => {
    member = await startFakeKubeApiserver((req, res) => {
      received.push(req)
      return respond(req, res)
    })
    member.server.on('upgrade', (req: IncomingMessage, socket: Duplex) => {
      received.push(req)
      sockets.add(socket.on('error', () => undefined))
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSet-Cookie: kapis=1\r\nX-Own: kept\r\n\r\n',
      )
      socket.pipe(socket)
    })
    server = await startLoopback((req, res) => serve(req, res))
    upgrades = createServer()
    upgrades.on('upgrade', toUpgradeListener(serve))
    await once(upgrades.listen(0, '127.0.0.1'), 'listening')
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    await server.close()
    await closeServer(upgrades)
    await member.close()
  })
  beforeEach(() => {
    received.length = 0
    identity = jane
    respond = (_req, res) => respondJson(res, 200, {})
    connect({ problem: 'it has no kubesphereAPIEndpoint' })
  })
  afterEach(() => proxy.close())

  it('impersonates the caller without forwarding any of the caller’s credentials', async () => {
    identity = {
      username: 'jane',
      uid: 'u',
      groups: ['dev', 'system:masters'],
      extra: { 'acme.com/x': ['1'] },
    }
    const sent = {
      authorization: 'Bearer secret-of-jane',
      cookie: 'session=secret-of-jane',
      'proxy-authorization': 'Basic secret-of-jane',
      'impersonate-user': 'root',
      'impersonate-group': 'system:masters',
      'x-remote-user': 'root',
      'x-forwarded-for': '10.0.0.1',
      connection: 'keep-alive, impersonate-user',
      'x-own': 'kept',
    }
    expect((await server.get('/clusters/m/api/v1/pods?limit=1', { headers: sent })).code).to.equal(200)
    const [req] = received
    expect(req?.url).to.equal('/api/v1/pods?limit=1')
    const { host: _host, ...headers } = req?.headers ?? {}
    expect(headers).to.deep.equal({
      'x-own': 'kept',
      'audit-id': 'id-1',
      via: '1.1 kapis-clusters',
      connection: 'keep-alive',
      authorization: 'Bearer own',
      'impersonate-user': 'jane',
      'impersonate-uid': 'u',
      'impersonate-group': 'dev',
      'impersonate-extra-acme.com%2fx': '1',
    })
  })

  it('sends no credential with an upgrade either, and closes it when the Cluster is deleted', async () => {
    const headers = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', authorization: 'Bearer secret-of-jane' },
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.c2VjcmV0, v4.channel.k8s.io',
      'impersonate-user': 'root',
    }
    const path = '/clusters/m/api/v1/namespaces/a/pods/p/exec?command=id'
    const asked = request({ host: '127.0.0.1', port: portOf(upgrades), path, headers, agent: false }).end()
    const [handshake, socket]: [IncomingMessage, Duplex] = await new Promise((resolve, reject) => {
      asked.once('error', reject)
      asked.once('upgrade', (res, upgraded) => resolve([res, upgraded]))
    })
    socket.on('error', () => undefined)
    socket.write('echo')
    const [echoed] = await once(socket, 'data')
    expect(String(echoed)).to.equal('echo')
    const { rawHeaders = [] } = received[0] ?? {}
    expect(received[0]?.headers).to.include({
      authorization: 'Bearer own',
      'impersonate-user': 'jane',
      'sec-websocket-protocol': 'v4.channel.k8s.io',
      via: '1.1 kapis-clusters',
    })
    expect(rawHeaders.join(' ')).to.not.include('secret')
    expect(handshake.headers).to.include({ upgrade: 'websocket', 'x-own': 'kept' })
    expect(handshake.headers).to.not.have.property('set-cookie')
    proxy.close()
    await once(socket.resume(), 'close')
  })

  it('ends a watch when the Cluster is deleted', async () => {
    respond = (_req, res) => void res.writeHead(200).write('{}\n')
    const watch = await server.open('/clusters/m/api/v1/pods?watch=true')
    proxy.close()
    expect(await watch.toArray().catch(error => error)).to.have.property('code', 'ECONNRESET')
    expect((await server.get('/clusters/m/api/v1/pods')).code).to.equal(502)
  })

  it('passes on rejections of the caller by the member, and removes cookies', async () => {
    const unwanted = [
      ...['set-cookie', 'clear-site-data', 'strict-transport-security', 'alt-svc', 'service-worker-allowed'],
      ...['nel', 'report-to', 'reporting-endpoints', 'www-authenticate', 'refresh'],
      ...['access-control-allow-origin', 'access-control-allow-credentials'],
      ...['set-login', 'accept-ch', 'secure-session-registration', 'speculation-rules'],
    ]
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      code: 403,
      message: 'pods is forbidden: User "jane" …',
    }
    respond = (_req, res) => {
      for (const name of unwanted) res.setHeader(name, 'x')
      res.setHeader('x-own', 'kept')
      respondJson(res, 403, status)
    }
    const { code, text, headers } = await server.get('/clusters/m/api/v1/pods')
    expect({ code, body: JSON.parse(text) }).to.deep.equal({ code: 403, body: status })
    expect(headers)
      .to.include({ 'x-own': 'kept' })
      .and.to.not.have.any.keys(...unwanted)
  })

  it('prevents scripts in documents of a member from running at the origin of Kapis', async () => {
    respond = (_req, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<script></script>')
    const { headers } = await server.get('/clusters/m/api/v1/namespaces/a/services/s/proxy/')
    expect(headers).to.have.property(
      'content-security-policy',
      'sandbox allow-scripts allow-forms allow-popups',
    )
  })

  const unauthorized = { kind: 'Status', apiVersion: 'v1', message: 'Unauthorized', code: 401 }
  const notAllowed = {
    kind: 'Status',
    message: 'users "jane" is forbidden: User "kapis" cannot impersonate resource "users"',
  }
  for (const [code, body] of [
    [401, unauthorized],
    [403, notAllowed],
  ] as const) {
    it(`reports that the member rejects the credential of Kapis, for ${code}`, async () => {
      respond = (_req, res) => respondJson(res, code, body)
      const refused = await server.get('/clusters/m/api/v1/pods')
      expect(refused.code).to.equal(503)
      expect(JSON.parse(refused.text).message).to.equal(
        'the account of the kubeconfig of the cluster "m" is not allowed to impersonate the caller',
      )
    })
  }

  it('rejects requests that must not reach the member', async () => {
    const cases: readonly (readonly [
      path: string,
      headers: Record<string, string>,
      code: number,
      message: string,
    ])[] = [
      [
        '/clusters/m/api/v1/pods',
        { via: '1.1 a, 1.1 kapis-clusters' },
        508,
        'the cluster "m" is reached by way of a cluster that Kapis serves itself',
      ],
      [
        '/clusters/m/kapis/iam.kapis.io/v1alpha2/users',
        {},
        503,
        'the cluster "m" does not serve /kapis: it has no kubesphereAPIEndpoint',
      ],
    ]
    for (const [path, headers, code, message] of cases) {
      const refused = await server.get(path, { headers })
      expect(JSON.parse(refused.text)).to.include({ code, message })
    }
    identity = { ...jane, username: 'system:serviceaccount:a:b' }
    expect((await server.get('/clusters/m/api/v1/pods')).code).to.equal(403)
    expect(
      (await server.get('/clusters/m/api/v1/pods', { headers: { 'x-http-method-override': 'DELETE' } })).code,
    ).to.equal(400)
    expect(received).to.deep.equal([])
  })

  it('neither follows nor passes on redirects', async () => {
    for (const location of ['https://elsewhere.example.org/', '/api/v1/pods', '//elsewhere.example.org']) {
      respond = (_req, res) => void res.writeHead(307, { location }).end()
      const { code, headers, text } = await server.get('/clusters/m/api/v1/pods')
      expect([code, headers.location]).to.deep.equal([502, undefined])
      expect(JSON.parse(text).message).to.equal(
        'the cluster "m" redirects, which is not supported: request the path with a trailing slash',
      )
    }
    respond = (_req, res) => void res.writeHead(304).end()
    expect((await server.get('/clusters/m/api/v1/pods')).code).to.equal(304)
  })

  it('sends platform API paths to the Kapis of the member', async () => {
    const kapis = await startFakeKubeApiserver((_req, res) => respondJson(res, 200, { of: 'kapis' }), '/base')
    connect(kapis.endpoint)
    const path = '/kapis/clusters/m/iam.kapis.io/v1alpha2/users?limit=1'
    expect(JSON.parse((await server.get(path)).text)).to.deep.equal({ of: 'kapis' })
    expect(kapis.requests).to.deep.equal(['GET /base/kapis/iam.kapis.io/v1alpha2/users?limit=1'])
    expect(received).to.deep.equal([])
    await kapis.close()
  })

  it('keeps requests below the base path of the kubeconfig’s server', async () => {
    const { endpoint } = member
    const kube = { ...endpoint, url: new URL('/k8s/clusters/c-1', endpoint.url) }
    proxy = createMemberProxy({ name: 'm', kube, kapis: { problem: '' } })
    const service = '/clusters/m/api/v1/namespaces/a/services/s/proxy'
    for (const rest of [
      '../../../../../../../../v3/users',
      '%2e%2E/x',
      '..',
      '.%2e?a=b',
      '..%2f..%2fv3',
      'x/..\\v3',
      'x\\..',
    ])
      expect((await server.get(`${service}/${rest}`)).code, rest).to.equal(400)
    expect(received).to.deep.equal([])
    await server.get(`${service}/a..b/...?of=/../`)
    expect(received.map(({ url }) => url)).to.deep.equal([
      '/k8s/clusters/c-1/api/v1/namespaces/a/services/s/proxy/a..b/...?of=/../',
    ])
  })

  it('returns 503 for an unreachable member', async () => {
    const gone = await startFakeKubeApiserver(() => undefined)
    await gone.close()
    proxy = createMemberProxy({ name: 'm', kube: gone.endpoint, kapis: { problem: '' } })
    const { code, text } = await server.get('/clusters/m/api/v1/pods')
    expect([code, JSON.parse(text).message]).to.deep.equal([
      503,
      'kube-apiserver of the cluster "m" is not responding',
    ])
  })

  it('limits the requests that wait for a slow member, but not its watches', async () => {
    const waiting: Parameters<Listener>[1][] = []
    respond = (req, res) => {
      if (req.url?.includes('watch') === true) respondJson(res, 200, {})
      else waiting.push(res)
    }
    const refused: Awaited<ReturnType<Loopback['get']>>[] = []
    const allRefused = Promise.withResolvers<void>()
    const slow = Array.from({ length: 110 }, async () => {
      const found = await server.get('/clusters/m/api/v1/pods')
      if (found.code === 429 && refused.push(found) === 10) allRefused.resolve()
      return found.code
    })
    await allRefused.promise
    for (const { headers, text } of refused)
      expect([headers['retry-after'], JSON.parse(text).message]).to.deep.equal([
        ...['1', 'the cluster "m" has 100 requests in flight'],
      ])
    expect((await server.get('/clusters/m/api/v1/pods?watch=true')).code).to.equal(200)
    respond = (_req, res) => respondJson(res, 200, {})
    for (const res of waiting) respondJson(res, 200, {})
    expect((await Promise.all(slow)).filter(code => code === 200)).to.have.length(100)
    expect((await server.get('/clusters/m/api/v1/pods')).code).to.equal(200)
  })
})

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, request as httpsRequest, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { createCa, issueCertificate } from '../../pkg/certs/issue.ts'
import {
  accessToken,
  type HttpResponse,
  kubectl,
  kubectlOutput,
  makeNamespace,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { askRaw, eventually, groupDomain, sendAs, statusBody } from './http.ts'
import { output, run, setting } from './run.ts'

const namespace = uniqueName('component')
const kind = `apiservices.extensions.${groupDomain}`
const group = 'acme.example.org'
const root = `/kapis/${group}/v1`
const widgets = `${root}/namespaces/${namespace}/widgets`

type ReceivedRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly certificate: string | undefined
  readonly authorized: boolean
}

describe('the API of another component', function () {
  this.timeout(150_000)
  const ca = createCa({ commonName: 'component CA', validityDays: 1 })
  const pair = issueCertificate(ca, {
    ...{ commonName: 'component', dnsNames: ['localhost'], usages: ['server'], validityDays: 1 },
  })
  let component: Server
  let port: number
  let token: string
  let serve: (req: IncomingMessage, res: ServerResponse) => unknown = () => undefined

  /**
   * A component that trusts the front-proxy CA of Kapis and returns the headers that it received.
   */
  async function startComponent(wantedPort: number): Promise<void> {
    const published = await kubectlOutput(
      ...['-n', setting('KAPIS_NAMESPACE'), 'get', 'configmap', 'kapis-front-proxy'],
      ...['-o', 'jsonpath={.data.requestheader-client-ca-file}'],
    )
    component = createServer(
      { cert: pair.certPem, key: pair.keyPem, ca: published, requestCert: true, rejectUnauthorized: false },
      (req, res) => void serve(req, res),
    )
    component.on('upgrade', (req, socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-User: ${req.headers['x-remote-user']}\r\n\r\n`,
      )
      socket.pipe(socket)
    })
    await new Promise<void>(resolve => component.listen(wantedPort, '127.0.0.1', resolve))
    port = (component.address() as AddressInfo).port
  }

  async function stopComponent(): Promise<void> {
    component.closeAllConnections()
    await new Promise<void>(resolve => component.close(() => resolve()))
  }

  const show = (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req
    const isTls = socket instanceof TLSSocket
    const received: ReceivedRequest = {
      url: req.url ?? '',
      headers: Object.fromEntries(
        Object.entries(req.headersDistinct).map(([name, values]) => [name, values ?? []]),
      ),
      certificate: isTls ? String(socket.getPeerCertificate().subject?.CN) : undefined,
      authorized: isTls && socket.authorized,
    }
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(received))
  }

  function apiService(name: string, spec: object): object {
    return { apiVersion: `extensions.${groupDomain}/v1alpha1`, kind: 'APIService', metadata: { name }, spec }
  }

  const create = (object: object) => run('kubectl', ['create', '-f', '-'], { stdin: JSON.stringify(object) })

  /**
   * Waits until the component is (or is not) available, and for the given reason. An earlier reason
   * may be a health check that failed while the component was shutting down.
   */
  async function available(name: string, status: string, reason = ''): Promise<void> {
    const condition = '{.status.conditions[?(@.type=="Available")]'
    const path = `jsonpath=${condition}.status} ${condition}.reason}: ${condition}.message}`
    await eventually(async () => {
      const shown = await kubectlOutput('get', kind, name, '-o', path)
      expect(shown.startsWith(`${status} `) && shown.includes(reason), shown).to.equal(true)
    }, 60_000)
  }

  before(async () => {
    await makeNamespace(namespace, ['reader', 'watcher', 'named', 'unprivileged'])
    token = await accessToken()
    serve = show
    await startComponent(0)
    const spec = { group, version: 'v1', url: `https://localhost:${port}/base`, timeoutSeconds: 2 }
    const caBundle = Buffer.from(ca.certPem).toString('base64')
    await output('kubectl', ['create', '-f', '-'], {
      stdin: JSON.stringify(apiService(`v1.${group}`, { ...spec, caBundle })),
    })
    await available(`v1.${group}`, 'True')
    // `kubectl create role` is not possible: it looks up the resource, which kube-apiserver does
    // not serve.
    const reading = ['get', 'list', 'watch']
    const permissions = {
      reader: { verbs: [...reading, 'create'] },
      watcher: { verbs: ['watch'] },
      named: { verbs: [...reading, 'delete', 'deletecollection'], resourceNames: ['mine'] },
    }
    const rbac = 'rbac.authorization.k8s.io'
    for (const [name, right] of Object.entries(permissions)) {
      const metadata = { name, namespace }
      const rules = [{ apiGroups: [group], resources: ['widgets', 'widgets/kubectl'], ...right }]
      for (const object of [
        { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules },
        {
          ...{ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata },
          roleRef: { apiGroup: rbac, kind: 'Role', name },
          subjects: [{ kind: 'ServiceAccount', name, namespace }],
        },
      ])
        await output('kubectl', ['create', '-f', '-'], { stdin: JSON.stringify(object) })
    }
  })
  after(async () => {
    await kubectl('delete', kind, '--all')
    await kubectl('delete', 'namespace', namespace, '--wait=false')
    await stopComponent()
  })

  async function seenBy(
    bearer: string,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<ReceivedRequest> {
    const response = await askRaw(path, { headers: { ...headers, authorization: `Bearer ${bearer}` } })
    expect(response.code, response.body).to.equal(200)
    return JSON.parse(response.body)
  }

  it('receives the identity of the caller, on a connection that only Kapis can open', async () => {
    const reader = await tokenOf(namespace, 'reader')
    const { url, headers, certificate, authorized } = await seenBy(reader, `${widgets}?a=%20b`)
    expect([url, certificate, authorized]).to.deep.equal([
      `/base${widgets}?a=%20b`,
      'kapis-front-proxy',
      true,
    ])
    expect(headers['x-remote-user']).to.deep.equal([`system:serviceaccount:${namespace}:reader`])
    expect(headers['x-remote-group']).to.include.members(['system:serviceaccounts', 'system:authenticated'])
    expect(headers['x-remote-uid']?.[0]).to.match(/^[0-9a-f-]{36}$/)
  })

  it('never receives a credential, nor an identity that the caller asserts', async () => {
    const claims = {
      ...{ 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters', 'X-Remote-Extra-A': 'b' },
      ...{ 'X-Forwarded-For': '10.0.0.1', Cookie: 'token=s3cret' },
    }
    const { headers } = await seenBy(token, widgets, claims)
    expect(headers['x-remote-user']).to.deep.equal([setting('KAPIS_USER')])
    expect(headers['x-remote-group']).to.not.include('system:masters')
    expect(headers).to.not.have.any.keys('authorization', 'cookie', 'x-remote-extra-a')
    expect(headers['x-forwarded-for']).to.deep.equal(['127.0.0.1'])
    expect(JSON.stringify(headers)).to.not.include(token)
  })

  it('can be reached only by callers with RBAC permission', async () => {
    const unprivileged = await tokenOf(namespace, 'unprivileged')
    const message = `widgets.${group} is forbidden: User "system:serviceaccount:${namespace}:unprivileged" cannot list resource "widgets" in API group "${group}" in the namespace "${namespace}"`
    const refused = await sendAs(unprivileged, widgets)
    expect([refused.code, JSON.parse(refused.body).message]).to.deep.equal([403, message])
    expect((await askRaw(widgets)).code).to.equal(401)
  })

  it('cannot be written with permission to watch', async () => {
    const received: string[] = []
    serve = (req, res) => {
      // Ignores the periodic health checks of Kapis.
      if (req.url?.includes('/widgets')) received.push(`${req.method} ${req.url}`)
      res.end()
    }
    const [watcher, reader] = [await tokenOf(namespace, 'watcher'), await tokenOf(namespace, 'reader')]
    for (const below of [
      `${root}/watch/namespaces/${namespace}/widgets`,
      `${root}/proxy/namespaces/${namespace}/widgets`,
    ]) {
      for (const path of [
        below,
        `${below}/mine`,
        `${below}?watch=true`,
        `${below}/mine/kubectl`,
        `${below}/`,
      ]) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
          expect((await sendAs(watcher, path, { method })).code, `${method} ${path}`).to.equal(403)
      }
      // Kapis treats the request as a write, but servers that know the prefix would treat it as a
      // watch.
      const created = await sendAs(reader, below, { method: 'POST' })
      expect(created.code).to.be.oneOf([403, 405])
    }
    const headers = { X_HTTP_METHOD_OVERRIDE: 'DELETE' }
    const overridden = await sendAs(reader, widgets, { method: 'POST', headers })
    expect([overridden.code, JSON.parse(overridden.body).message]).to.deep.equal([
      400,
      'the header x_http_method_override names another method than that of the request',
    ])
    expect(received).to.deep.equal([])
    await sendAs(watcher, `${root}/watch/namespaces/${namespace}/widgets`)
    expect(received).to.deep.equal([`GET /base${root}/watch/namespaces/${namespace}/widgets`])
    serve = show
  })

  it('is authorized by the name in the path: it may ignore a selector', async () => {
    const named = await tokenOf(namespace, 'named')
    const selector = 'fieldSelector=metadata.name%3Dmine'
    expect((await seenBy(named, `${widgets}/mine?${selector}`)).url).to.equal(
      `/base${widgets}/mine?${selector}`,
    )
    for (const query of [selector, `${selector}&watch=true`, `${selector}&labelSelector=a`])
      for (const path of [widgets, `${root}/watch/namespaces/${namespace}/widgets`])
        expect((await sendAs(named, `${path}?${query}`)).code, query).to.equal(403)
    expect((await sendAs(named, `${widgets}?${selector}`, { method: 'DELETE' })).code).to.equal(403)
  })

  it('defines its own query parameters, except those that affect authorization', async () => {
    expect((await seenBy(token, `${widgets}?a=1&a=2&command=x&command=y`)).url).to.equal(
      `/base${widgets}?a=1&a=2&command=x&command=y`,
    )
    const ambiguous = [
      'watch=false&watch=true',
      'fieldSelector=a%3Db&%66ieldSelector=',
      'labelSelector=a&LabelSelector=b',
    ]
    for (const query of [...ambiguous, 'a=1;watch=true', 'a=%zz', 'a=%ff']) {
      const { code, body } = await sendAs(token, `${widgets}?${query}`)
      expect(code, `${query}: ${body}`).to.equal(400)
    }
  })

  it('returns its own responses, including errors', async () => {
    serve = (_req, res) =>
      res.writeHead(503, 'My Own', { 'x-own': '1', 'content-type': 'text/plain' }).end('busy')
    for (let i = 0; i < 8; i++) {
      const { code, body, headers } = await sendAs(token, widgets)
      expect([code, body, headers['x-own'], headers['proxy-status']]).to.deep.equal([
        503,
        'busy',
        '1',
        undefined,
      ])
    }
    serve = show
  })

  it('serves its discovery document at the root of its API', async () => {
    expect((await seenBy(token, root)).url).to.equal(`/base${root}`)
  })

  it('receives bodies and streams responses', async () => {
    serve = (req, res) => {
      res.writeHead(201)
      req.pipe(res)
    }
    const sent = 'x'.repeat(3_000_000)
    const { code, body } = await sendAs(token, widgets, { method: 'POST', body: sent })
    expect([code, body.length]).to.deep.equal([201, sent.length])
    serve = (_req, res) => {
      res.writeHead(200).write('{"type":"ADDED"}\n')
    }
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const watch = httpsRequest(
      new URL(`${widgets}?watch=true`, setting('KAPIS_URL')),
      { ca: readFileSync(setting('KAPIS_CA')), agent: false, headers: { authorization: `Bearer ${token}` } },
      res => res.once('data', chunk => resolve(String(chunk))),
    )
    watch.on('error', reject).end()
    expect(await promise).to.equal('{"type":"ADDED"}\n')
    watch.on('error', () => undefined).destroy()
    serve = show
  })

  /** Opens an upgraded connection, or returns the status of the rejection. */
  function openEcho(bearer: string): Promise<{ user: string; socket: Duplex } | number> {
    const { promise, resolve, reject } = Promise.withResolvers<{ user: string; socket: Duplex } | number>()
    const upgrade = httpsRequest(new URL(`${widgets}/x/terminal`, setting('KAPIS_URL')), {
      ...{ ca: readFileSync(setting('KAPIS_CA')), agent: false },
      headers: { authorization: `Bearer ${bearer}`, connection: 'Upgrade', upgrade: 'echo' },
    })
    upgrade.on('upgrade', (res, socket) => resolve({ user: String(res.headers['x-user']), socket }))
    upgrade.on('response', res => resolve(res.resume().statusCode ?? 0))
    upgrade.on('error', reject).end()
    return promise
  }

  it('supports upgrades to other protocols', async () => {
    const opened = await openEcho(token)
    if (typeof opened === 'number') throw new Error(`status ${opened}`)
    const { user, socket } = opened
    socket.write('there and back')
    const [chunk] = await once(socket, 'data')
    expect([user, String(chunk)]).to.deep.equal([setting('KAPIS_USER'), 'there and back'])
    socket.destroy()
  })

  it('supports no upgrade with a read-only token, on any path', async () => {
    const made = await sendAs(token, '/oauth/personal-access-tokens', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ name: uniqueName('reader'), scope: 'read' }),
    })
    const reader = JSON.parse(made.body)
    expect((await sendAs(reader.token, widgets)).code).to.equal(200)
    expect(await openEcho(reader.token)).to.equal(403)
    await sendAs(token, `/oauth/personal-access-tokens/${reader.id}`, { method: 'DELETE' })
  })

  it('loses upgraded connections within two seconds after the session ends, on any path', async () => {
    const login = await accessToken()
    const opened = await openEcho(login)
    if (typeof opened === 'number') throw new Error(`status ${opened}`)
    let endedAt = 0
    opened.socket.on('error', () => undefined).on('close', () => (endedAt = performance.now()))
    await sleep(200)
    expect(endedAt).to.equal(0)
    const { code } = await sendAs(login, '/oauth/logout', { method: 'POST' })
    expect(code).to.be.below(400)
    const loggedOutAt = performance.now()
    await eventually(async () => expect(endedAt).to.be.above(0), 4_000, 20)
    expect(endedAt - loggedOutAt).to.be.below(2_000)
  })

  it('uses no seats of short requests for upgraded connections', async () => {
    // A user may open a hundred of four hundred connections, and a handshake counts until it is
    // complete.
    const opened: Awaited<ReturnType<typeof openEcho>>[] = []
    for (let batch = 0; batch < 6; batch++)
      opened.push(...(await Promise.all(Array.from({ length: 20 }, () => openEcho(token)))))
    for (let i = 0; i < 3; i++) expect((await sendAs(token, widgets)).code).to.equal(200)
    for (const echo of opened) {
      if (typeof echo === 'number') throw new Error(`status ${echo}`)
      echo.socket.on('error', () => undefined).destroy()
    }
  })

  it('cannot redirect its callers, whose clients would send their credentials, to another host (CVE-2022-3172)', async () => {
    serve = (req, res) => res.writeHead(307, { location: `${req.headers['x-to']}` }).end('see there')
    for (const away of ['https://evil.example.org/', '//evil.example.org', '/\\evil.example.org']) {
      const refused = await sendAs(token, widgets, { headers: { 'x-to': away } })
      expect([refused.code, refused.headers.location], `${away}: ${refused.body}`).to.deep.equal([
        502,
        undefined,
      ])
      expect(JSON.parse(refused.body).message).to.equal(
        `the component v1.${group} redirects to another host, which is not permitted`,
      )
    }
    const near = await sendAs(token, widgets, { headers: { 'x-to': `${widgets}/a` } })
    expect([near.code, near.headers.location, near.body]).to.deep.equal([307, `${widgets}/a`, 'see there'])
    serve = show
  })

  it('causes 504 if it does not respond in time, without delaying other requests', async () => {
    serve = () => undefined
    const slow = await sendAs(token, widgets)
    expect([slow.code, slow.headers['proxy-status']]).to.deep.equal([
      504,
      'kapis; error=http_response_timeout',
    ])
    serve = show
  })

  it('causes 503 for its own paths only while it is down, and recovers automatically', async () => {
    await stopComponent()
    const expectOwnFailure = (response: HttpResponse) => {
      const { code, headers, body } = response
      expect([code, headers['retry-after'] !== undefined], body).to.deep.equal([503, true])
      expect(headers['proxy-status']).to.match(/^kapis; error=(connection_refused|destination_unavailable)$/)
      const { details: _details, ...status } = JSON.parse(body)
      const message = `the component v1.${group} is not responding`
      expect(status).to.deep.equal(statusBody(503, 'ServiceUnavailable', message))
    }
    // More failures than the circuit breaker tolerates.
    for (let i = 0; i < 8; i++) expectOwnFailure(await sendAs(token, widgets))
    expect((await sendAs(token, `/kapis/resources.${groupDomain}/v1alpha3/nodes`)).code).to.equal(200)
    expect((await sendAs(token, '/api/v1/nodes')).code).to.equal(200)
    const reason = `FailedCheck: the component v1.${group} is not responding (connection_refused)`
    await available(`v1.${group}`, 'False', reason)
    await startComponent(port)
    await available(`v1.${group}`, 'True')
    await eventually(async () => void (await seenBy(token, widgets)), 15_000)
  })

  it('receives no request if it has a certificate of another CA', async () => {
    const name = 'v1.stranger.example.org'
    const strangers = createCa({ commonName: 'component CA', validityDays: 1 })
    const caBundle = Buffer.from(strangers.certPem).toString('base64')
    const spec = { group: 'stranger.example.org', version: 'v1', url: `https://localhost:${port}`, caBundle }
    expect(await create(apiService(name, spec))).to.include({ code: 0 })
    await available(name, 'False', 'tls_certificate_error')
    const { code, headers } = await sendAs(token, '/kapis/stranger.example.org/v1/things')
    expect([code, headers['proxy-status']]).to.deep.equal([503, 'kapis; error=tls_certificate_error'])
  })

  it('receives nothing about the caller over plain HTTP', async () => {
    const name = 'v1.plain.example.org'
    const plain = createPlain(show)
    await new Promise<void>(resolve => plain.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
      expect(await create(apiService(name, { group: 'plain.example.org', version: 'v1', url }))).to.include({
        code: 0,
      })
      await available(name, 'True')
      const { headers } = await seenBy(token, '/kapis/plain.example.org/v1/things')
      expect(Object.keys(headers).filter(header => header.startsWith('x-remote-'))).to.deep.equal([])
    } finally {
      await kubectl('delete', kind, name)
      plain.closeAllConnections()
      plain.close()
    }
  })

  for (const reserved of [`iam.${groupDomain}`, `resources.${groupDomain}`, 'metrics.k8s.io']) {
    it(`cannot use the reserved group ${reserved}`, async () => {
      const name = `v1alpha3.${reserved}`
      const spec = { group: reserved, version: 'v1alpha3', url: `https://localhost:${port}` }
      expect(await create(apiService(name, spec))).to.include({ code: 0 })
      await available(name, 'False', 'GroupReserved: ')
      await kubectl('delete', kind, name)
    })
  }

  const url = 'https://localhost'
  const invalid: readonly (readonly [what: string, name: string, spec: object, message: string])[] = [
    [
      'another name',
      'acme',
      { group: 'a.b', version: 'v1', url },
      'metadata.name must be <spec.version>.<spec.group>',
    ],
    [
      'a missing address',
      'v1.a.b',
      { group: 'a.b', version: 'v1' },
      'exactly one of url and service is required',
    ],
    [
      'two addresses',
      'v1.a.b',
      { group: 'a.b', version: 'v1', url, service: { namespace: 'a', name: 'b' } },
      'exactly one of url and service is required',
    ],
    ['an API group without a dot', 'v1.apps', { group: 'apps', version: 'v1', url }, 'spec.group'],
    ['an unsupported URL scheme', 'v1.a.b', { group: 'a.b', version: 'v1', url: 'file:///etc' }, 'spec.url'],
    ['an invalid version', '1.a.b', { group: 'a.b', version: '1', url }, 'spec.version'],
    [
      'an unlimited timeout',
      'v1.a.b',
      { group: 'a.b', version: 'v1', url, timeoutSeconds: 301 },
      'spec.timeoutSeconds',
    ],
  ]
  for (const [what, name, spec, message] of invalid) {
    it(`cannot be registered by an APIService with ${what}`, async () => {
      const { code, stderr } = await create(apiService(name, spec))
      expect(code).to.equal(1)
      expect(stderr).to.include(message)
    })
  }

  it('is not served any more after its APIService is deleted', async () => {
    await kubectlOutput('delete', kind, `v1.${group}`)
    await eventually(async () => {
      expect((await sendAs(token, widgets)).code).to.equal(404)
    }, 10_000)
  })
})

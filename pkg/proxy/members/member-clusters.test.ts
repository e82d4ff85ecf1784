import { X509Certificate } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { createCa, issueCertificate, type KeyPair } from '../../certs/issue.ts'
import {
  type FakeKubeApiserver,
  respondJson,
  startFakeKubeApiserver,
  until,
} from '../../kubeclient/fixtures.ts'
import { fieldsOf } from '../../kubeclient/object/object.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { MemberClusters } from './member-clusters.ts'

const base64 = (value: string) => Buffer.from(value).toString('base64')
const metadata = (name: string) => ({ name, uid: name, resourceVersion: '5', creationTimestamp: '' })
const clustersPath = '/apis/cluster.kapis.io/v1alpha1/clusters'
const secretsOf = '/api/v1/namespaces/kapis-system/secrets'

const inlined = ({ certPem, keyPem }: KeyPair) => ({
  'client-certificate-data': base64(certPem),
  'client-key-data': base64(keyPem),
})

/** Responds to the requests of a health check. */
function respondToCheck(
  req: IncomingMessage,
  res: ServerResponse,
  { uid, remaining = 2 }: { readonly uid: string; readonly remaining?: unknown },
): void {
  const { pathname } = new URL(req.url ?? '', 'https://h')
  const node = { metadata: { ...metadata('n'), labels: { 'topology.kubernetes.io/region': 'r' } } }
  if (pathname === '/version') respondJson(res, 200, { gitVersion: 'v1.36.0' })
  else if (pathname.endsWith('/kube-system')) respondJson(res, 200, { metadata: { uid } })
  else if (pathname === '/api/v1/nodes')
    respondJson(res, 200, { metadata: { remainingItemCount: remaining }, items: [node] })
  else respondJson(res, 404, { kind: 'Status', code: 404 })
}

/** The kube-apiserver of this cluster, with Clusters and Secrets that tests change. */
class Host {
  readonly #watches = new Map<string, ServerResponse>()
  readonly objects = new Map<string, Map<string, object>>([
    [clustersPath, new Map()],
    [secretsOf, new Map()],
  ])
  readonly statuses: { readonly name: string; readonly status: unknown }[] = []
  readonly queries: string[] = []

  respond(req: IncomingMessage, res: ServerResponse): void {
    const { pathname, searchParams } = new URL(req.url ?? '', 'https://h')
    const found = this.objects.get(pathname)
    if (req.method === 'PATCH') return void this.#patch(req, res, pathname)
    if (found === undefined) return void respondToCheck(req, res, { uid: 'host-uid' })
    if (searchParams.has('watch')) {
      this.#watches.set(pathname, res.writeHead(200))
      res.flushHeaders()
      return
    }
    this.queries.push(searchParams.get('fieldSelector') ?? '')
    respondJson(res, 200, { metadata: { resourceVersion: '5' }, items: [...found.values()] })
  }

  put(path: string, name: string, object: object | undefined): void {
    const found = this.objects.get(path)
    const type = object === undefined ? 'DELETED' : found?.has(name) ? 'MODIFIED' : 'ADDED'
    if (object === undefined) found?.delete(name)
    else found?.set(name, { metadata: metadata(name), ...object })
    this.#watches
      .get(path)
      ?.write(`${JSON.stringify({ type, object: { metadata: metadata(name), ...object } })}\n`)
  }

  async #patch(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    const { status } = fieldsOf(JSON.parse(Buffer.concat(await req.toArray()).toString()))
    const name = path.split('/').at(-2) ?? ''
    this.statuses.push({ name, status })
    const old = this.objects.get(clustersPath)?.get(name)
    const object = { ...old, metadata: metadata(name), status: fieldsOf(status) }
    this.put(clustersPath, name, object)
    respondJson(res, 200, object)
  }
}

describe('MemberClusters', function () {
  this.timeout(20_000)
  let host: Host
  let server: FakeKubeApiserver
  let member: FakeKubeApiserver
  let clusters: MemberClusters
  let memberUid: string
  let isDown: boolean
  let isEndless: boolean
  let remaining: unknown
  let respond: (req: IncomingMessage, res: ServerResponse) => unknown

  async function toKubeconfig(
    token: string,
    at = member,
    ca?: string,
    user: object = { token },
  ): Promise<{ data: Record<string, string> }> {
    const { tls } = await at.endpoint.access()
    const cluster = {
      server: at.endpoint.url.href,
      'certificate-authority-data': base64(ca ?? String(tls.ca)),
    }
    const kubeconfig = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      clusters: [{ name: 'k', cluster }],
      users: [{ name: 'u', user }],
    }
    return { data: { kubeconfig: base64(JSON.stringify(kubeconfig)) } }
  }
  const rejection = (name: string) => {
    try {
      clusters.find(name)
    } catch (error) {
      const { code, message } = fieldsOf(error)
      return { code, message }
    }
    return undefined
  }
  const readyOf = (name: string): Readonly<Record<string, unknown>> => {
    const status = fieldsOf(host.statuses.findLast(written => written.name === name)?.status)
    const conditions = Array.isArray(status.conditions) ? status.conditions : []
    const { lastTransitionTime, lastUpdateTime, ...condition } = fieldsOf(
      conditions.find(({ type }) => type === 'Ready'),
    )
    return { ...status, conditions: undefined, ...condition }
  }

  beforeEach(async () => {
    host = new Host()
    memberUid = 'member-uid'
    isDown = false
    isEndless = false
    remaining = 2
    respond = (req, res) => respondToCheck(req, res, { uid: memberUid, remaining })
    server = await startFakeKubeApiserver((req, res) => host.respond(req, res))
    member = await startFakeKubeApiserver((req, res) => {
      if (isDown) return req.socket.destroy()
      if (req.headers.authorization === 'Bearer other')
        return void res.writeHead(404).end('secret-of-a-server')
      if (req.headers.authorization !== 'Bearer good')
        return respondJson(res, 401, { kind: 'Status', code: 401 })
      if (isEndless) return res.end(Buffer.alloc(8 * 1024 * 1024, ' '))
      return respond(req, res)
    })
    clusters = new MemberClusters({
      ...{ client: server.client, groupDomain: 'kapis.io', namespace: 'kapis-system', checkEveryMs: 50 },
      logger: createLogger({ program: 'test', level: 'error' }),
    })
  })
  afterEach(async () => {
    clusters.stop()
    await server.close()
    await member.close()
  })

  async function startWith(secret: object | undefined, connection: object = {}): Promise<void> {
    host.objects.get(clustersPath)?.set('m', { metadata: metadata('m'), spec: { connection } })
    if (secret !== undefined) host.objects.get(secretsOf)?.set('m', { metadata: metadata('m'), ...secret })
    expect(rejection('m')).to.deep.equal({
      code: 503,
      message: 'the clusters have not been read yet; retry later',
    })
    clusters.start()
    await until(() => host.statuses.length > 0)
  }
  const passed = {
    type: 'Ready',
    status: 'True',
    reason: 'Passed',
    message: 'the cluster responds',
    conditions: undefined,
    kubernetesVersion: 'v1.36.0',
    nodeCount: 3,
    region: 'r',
  }

  it('reads the kubeconfig of a member, and writes its status', async () => {
    await startWith(await toKubeconfig('good'))
    expect(readyOf('m')).to.deep.equal({ ...passed, uid: 'member-uid' })
    expect(rejection('m')).to.equal(undefined)
    expect(clusters.names()).to.deep.equal(['m'])
    expect(rejection('x')).to.deep.equal({ code: 404, message: 'clusters.cluster.kapis.io "x" not found' })
    expect(host.queries).to.include('type=cluster.kapis.io/kubeconfig')
    await until(() => member.requests.filter(line => line === 'GET /version').length > 3)
    expect(host.statuses).to.have.length(1)
  })

  for (const [given, nodeCount] of [
    [1.5, 1],
    [-3, 1],
    ['many', 1],
  ])
    it(`counts nodes although the member reports ${given} more`, async () => {
      remaining = given
      await startWith(await toKubeconfig('good'))
      expect(readyOf('m')).to.include({ nodeCount })
    })

  it('follows the Secret and the deletion of the Cluster', async () => {
    await startWith(await toKubeconfig('old'))
    expect(readyOf('m')).to.include({ status: 'False' })
    expect(rejection('m')).to.deep.equal({
      code: 503,
      message: 'the cluster "m" is not ready: the cluster rejects the credential of the kubeconfig',
    })
    host.put(secretsOf, 'm', await toKubeconfig('good'))
    await until(() => rejection('m') === undefined && readyOf('m').status === 'True')
    const first = clusters.find('m')
    host.put(secretsOf, 'm', { ...(await toKubeconfig('good')), type: 'cluster.kapis.io/kubeconfig' })
    host.put(clustersPath, 'm', undefined)
    await until(() => rejection('m')?.code === 404)
    host.put(clustersPath, 'm', { spec: {} })
    await until(() => rejection('m') === undefined)
    expect(clusters.find('m')).to.not.equal(first)
  })

  it('returns 503 while a member is unreachable, and proxies to it again afterwards', async () => {
    await startWith(await toKubeconfig('good'))
    isDown = true
    await until(() => rejection('m') !== undefined)
    expect(rejection('m')?.code).to.equal(503)
    expect(rejection('m')?.message).to.match(
      /^the cluster "m" is not ready: the cluster closed the connection/,
    )
    await until(() => readyOf('m').status === 'False')
    isDown = false
    await until(() => rejection('m') === undefined && readyOf('m').status === 'True')
  })

  it('returns 501 for a cluster behind an agent tunnel', async () => {
    await startWith(undefined, { type: 'proxy' })
    const why = 'spec.connection.type "proxy" (a tunnel from an agent) is not supported; supported: direct'
    expect(readyOf('m')).to.include({ status: 'False', reason: 'UnsupportedConnection', message: why })
    expect(rejection('m')).to.deep.equal({ code: 501, message: `the cluster "m" is not ready: ${why}` })
  })

  it('returns 508 for a member that is the host cluster itself', async () => {
    memberUid = 'host-uid'
    await startWith(await toKubeconfig('good'))
    const message = 'the kubeconfig points to this cluster itself'
    expect(readyOf('m')).to.include({ status: 'False', reason: 'SameCluster', message })
    expect(rejection('m')?.code).to.equal(508)
  })

  it('validates a Cluster before it is created', async () => {
    const why = (connection: object) =>
      clusters.validate({ metadata: { name: 'n' }, spec: { connection } }).then(
        () => 'valid',
        error => [error.code, error.message],
      )
    const { data: good } = await toKubeconfig('good')
    const { data: wrong } = await toKubeconfig('wrong')
    expect(await why(good)).to.equal('valid')
    expect(await why(wrong)).to.deep.equal([
      400,
      'invalid cluster: the cluster rejects the credential of the kubeconfig',
    ])
    const { data: other } = await toKubeconfig('other')
    expect(await why(other)).to.deep.equal([400, 'invalid cluster: the cluster responded with 404'])
    expect(await why({ ...good, type: 'proxy' })).to.deep.equal([
      400,
      'invalid cluster: spec.connection.type "proxy" (a tunnel from an agent) is not supported; supported: direct',
    ])
    await startWith(await toKubeconfig('good'))
    expect(await why(good)).to.deep.equal([400, 'invalid cluster: the cluster is already registered as "m"'])
    memberUid = 'host-uid'
    expect(await why(good)).to.deep.equal([
      400,
      'invalid cluster: the kubeconfig points to this cluster itself',
    ])
  })

  // The URL may belong to any server, so the status contains nothing from its response.
  const servers: readonly (readonly [what: string, behavior: typeof respond, message: string])[] = [
    [
      'redirects',
      (_req, res) => res.writeHead(302, { location: 'https://secret.example.org' }).end(),
      'the cluster redirects, which is not supported (http_protocol_error)',
    ],
    [
      'sends HTML',
      (_req, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>secret'),
      'the cluster returned a response that is not valid JSON (http_protocol_error)',
    ],
    [
      'is no Kubernetes',
      (_req, res) => respondJson(res, 200, { version: 'secret' }),
      'the response of /version has no gitVersion',
    ],
    ['sends nothing', (_req, res) => res.writeHead(200).end(), 'the response of /version has no gitVersion'],
    [
      'closes the connection in the middle of a response',
      (req, res) => res.writeHead(200).write('{"secret":', () => req.socket.destroy()),
      'the cluster closed the connection before the response was complete (connection_terminated)',
    ],
  ]
  for (const [what, behavior, message] of servers)
    it(`is not ready if the server ${what}`, async () => {
      respond = behavior
      await startWith(await toKubeconfig('good'))
      expect(readyOf('m')).to.include({ status: 'False', reason: 'FailedCheck', message })
    })

  const caPair = createCa({ commonName: 'member', validityDays: 10 })
  const issue = (issuer: KeyPair, options: { now?: Date; ipAddresses?: readonly string[] } = {}) =>
    issueCertificate(issuer, {
      ...{ commonName: 'member', ipAddresses: ['127.0.0.1'], usages: ['server'], validityDays: 1 },
      ...options,
    })
  const daysFromNow = (days: number) => ({ now: new Date(Date.now() + days * 86_400_000) })
  const unsigned = 'has a certificate that the expected CA has not signed'
  const untimely = 'has a certificate that is not valid at this time'
  const certificates: readonly (readonly [what: string, serving: KeyPair, text: string])[] = [
    ['an expired certificate', issue(caPair, daysFromNow(-3)), untimely],
    ['a certificate of the future', issue(caPair, daysFromNow(3)), untimely],
    ['a certificate of another CA', issue(createCa({ commonName: 'other', validityDays: 1 })), unsigned],
    [
      'a certificate of a CA with the same name',
      issue(createCa({ commonName: 'member', validityDays: 1 })),
      unsigned,
    ],
    ['a self-signed certificate', createCa({ commonName: 'member', validityDays: 1 }), unsigned],
    [
      'a certificate for another address',
      issue(caPair, { ipAddresses: ['127.0.0.2'] }),
      'has a certificate for another name',
    ],
  ]
  for (const [what, { certPem: cert, keyPem: key }, text] of certificates)
    it(`names the problem of ${what}`, async () => {
      member.server.setSecureContext({ cert, key })
      await startWith(await toKubeconfig('good', member, caPair.certPem))
      const message = `the cluster ${text} (tls_certificate_error)`
      expect(readyOf('m')).to.include({ status: 'False', reason: 'FailedCheck', message })
      expect(rejection('m')).to.deep.equal({ code: 503, message: `the cluster "m" is not ready: ${message}` })
      expect(member.requests, 'the credential is not sent').to.deep.equal([])
    })

  const day = 86_400_000
  const tokenUntil = (ms: number) =>
    `e30.${Buffer.from(JSON.stringify({ exp: ms / 1000 })).toString('base64url')}.e30`
  const clientCertificate = (days: number) => issue(caPair, daysFromNow(days))
  const [expired, future] = [clientCertificate(-3), clientCertificate(3)]
  const rejected: readonly (readonly [what: string, user: object, why: string])[] = [
    ['a token that expired', { token: tokenUntil(day) }, ': its token expired at 1970-01-02T00:00:00.000Z'],
    ['a token with another problem', { token: tokenUntil(Date.now() + day) }, ''],
    ['a token without dates', { token: 'opaque' }, ''],
    [
      'a client certificate that expired',
      inlined(expired),
      `: its client certificate expired at ${new X509Certificate(expired.certPem).validToDate.toISOString()}`,
    ],
    [
      'a client certificate of the future',
      inlined(future),
      `: its client certificate is not valid before ${new X509Certificate(future.certPem).validFromDate.toISOString()}`,
    ],
    ['a client certificate with another problem', inlined(clientCertificate(0)), ''],
  ]
  for (const [what, user, why] of rejected)
    it(`names the problem of ${what}`, async () => {
      await startWith(await toKubeconfig('', member, undefined, user))
      const message = `the cluster rejects the credential of the kubeconfig${why}`
      expect(readyOf('m')).to.include({ status: 'False', reason: 'FailedCheck', message })
    })

  it('limits the size of the responses that a check reads', async () => {
    await startWith(await toKubeconfig('good'))
    isEndless = true
    await until(() => readyOf('m').status === 'False')
    expect(readyOf('m').message).to.equal('the response is larger than 4194304 bytes')
  })

  it('writes the status of the host cluster into the Cluster host', async () => {
    host.objects.get(clustersPath)?.set('host', { metadata: metadata('host'), spec: {} })
    clusters.start()
    await until(() => host.statuses.length > 0)
    expect(readyOf('host')).to.deep.equal({ ...passed, uid: 'host-uid' })
  })
})

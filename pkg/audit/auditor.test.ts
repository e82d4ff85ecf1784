import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { Status, unauthorized } from '../apierrors/status.ts'
import { jane, type Loopback, startLoopback, toExchange } from '../apirequest/fixtures.ts'
import { sendJson } from '../httpserver/response/respond.ts'
import { type AuditRecord, createAuditor } from './auditor.ts'
import { parsePolicy } from './policy.ts'

type Event = { readonly [member: string]: unknown }

const whole = '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: RequestResponse}]}'

describe('createAuditor', () => {
  let loopback: Loopback | undefined
  let lines: string[] = []
  const events = (): Event[] => lines.map(line => JSON.parse(line))
  afterEach(() => loopback?.close())

  /** Starts a server that calls the auditor in the order of the handler chain. */
  async function start(
    policy: string,
    serve: (record: AuditRecord, req: IncomingMessage, res: ServerResponse) => unknown,
  ): Promise<Loopback> {
    lines = []
    const sink = { isFull: false, write: (event: string) => void lines.push(event) }
    const auditor = createAuditor({ policy: parsePolicy(policy), sink, whenFull: 'drop' })
    loopback = await startLoopback((req, res) => {
      const record = auditor.begin(toExchange(req, res))
      res.once('close', () => record.completed(res.statusCode))
      return serve(record, req, res)
    })
    return loopback
  }

  async function read(req: IncomingMessage): Promise<string> {
    return Buffer.concat(await req.toArray()).toString('utf8')
  }

  const serveAs =
    (serve: (req: IncomingMessage, res: ServerResponse) => unknown) =>
    async (record: AuditRecord, req: IncomingMessage, res: ServerResponse) => {
      // As in the handler chain, authentication takes a while and the body arrives in the meantime.
      await new Promise(resolve => setTimeout(resolve, 20))
      record.identified(toExchange(req, res), undefined)
      record.allowed()
      await serve(req, res)
    }

  const post = async (port: number, path: string, body: string) => {
    await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'user-agent': 'test/1' },
    }).then(res => res.text())
  }

  it('writes every field of an event, including bodies', async () => {
    const observed: string[] = []
    const { port } = await start(
      whole,
      serveAs(async (req, res) => {
        observed.push(await read(req))
        sendJson(res, 201, { kind: 'ConfigMap', metadata: { name: 'c' } })
      }),
    )
    const body = '{"kind":"ConfigMap","metadata":{"generateName":"c"}}'
    await post(port, '/api/v1/namespaces/a/configmaps?dryRun=All', body)
    expect(observed).to.deep.equal([body])
    const [received, complete] = events()
    expect(received).to.include({ stage: 'RequestReceived' })
    const { requestReceivedTimestamp, stageTimestamp, sourceIPs, ...rest } = complete ?? {}
    expect(String(sourceIPs)).to.match(/127\.0\.0\.1/)
    for (const time of [requestReceivedTimestamp, stageTimestamp])
      expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    expect(rest).to.deep.equal({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      auditID: 'id-1',
      stage: 'ResponseComplete',
      requestURI: '/api/v1/namespaces/a/configmaps?dryRun=All',
      verb: 'create',
      user: { username: 'jane', uid: 'u-1', groups: ['dev', 'system:authenticated'] },
      userAgent: 'test/1',
      objectRef: { resource: 'configmaps', namespace: 'a', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: { kind: 'ConfigMap', metadata: { generateName: 'c' } },
      responseObject: { kind: 'ConfigMap', metadata: { name: 'c' } },
      annotations: { 'authorization.k8s.io/decision': 'allow' },
    })
  })

  it('names the member cluster of a request', async () => {
    const { port } = await start(
      whole,
      serveAs((_req, res) => sendJson(res, 201, {})),
    )
    await post(port, '/api/clusters/m/v1/namespaces/a/configmaps', '{}')
    expect(events().at(-1)).to.deep.include({
      requestURI: '/api/clusters/m/v1/namespaces/a/configmaps',
      objectRef: { resource: 'configmaps', namespace: 'a', apiVersion: 'v1' },
      annotations: { 'authorization.k8s.io/decision': 'allow', 'kapis.io/cluster': 'm' },
    })
  })

  it('never writes a secret, a token or a password, with any policy', async () => {
    const { port, get } = await start(
      whole,
      serveAs(async (req, res) => {
        await read(req)
        sendJson(res, 200, { data: 's3cret' })
      }),
    )
    await post(port, '/api/v1/namespaces/a/secrets', '{"data":{"a":"s3cret"}}')
    await post(port, '/apis/authentication.k8s.io/v1/tokenreviews', '{"spec":{"token":"s3cret"}}')
    await post(port, '/oauth/token', 'grant_type=password&password=s3cret')
    await get('/api/v1/pods?access_token=s3cret', { headers: { authorization: 'Bearer s3cret' } })
    expect(events()).to.have.length(8)
    // The last event contains the response, because pods are not a secret resource.
    expect(JSON.stringify(events().slice(0, 7))).to.not.include('s3cret')
    expect(events()[7]?.requestURI).to.equal('/api/v1/pods?access_token=[redacted]')
  })

  it('decodes a response in its content encoding', async () => {
    const { get } = await start(
      whole,
      serveAs((_req, res) => {
        // The proxy writes bytes as latin1 strings, too.
        const bytes = Buffer.from('{"data":"Zoë"}').toString('latin1')
        res.write(bytes.slice(0, 12), 'latin1')
        res.end(bytes.slice(12), 'latin1')
      }),
    )
    expect((await get('/api/v1/configmaps')).text).to.equal('{"data":"Zoë"}')
    expect(events()[1]?.responseObject).to.deep.equal({ data: 'Zoë' })
  })

  it('omits bodies that are too large, without buffering them', async () => {
    const { port } = await start(
      whole,
      serveAs(async (req, res) => {
        await read(req)
        sendJson(res, 200, { data: 'x'.repeat(300 * 1024) })
      }),
    )
    await post(port, '/api/v1/namespaces/a/configmaps', JSON.stringify({ data: 'x'.repeat(300 * 1024) }))
    expect(events()[1]).to.not.have.any.keys('requestObject', 'responseObject')
  })

  it('omits managed fields if the policy requests it', async () => {
    const policy =
      '{apiVersion: audit.k8s.io/v1, kind: Policy, omitManagedFields: true, omitStages: [RequestReceived], rules: [{level: RequestResponse}]}'
    const item = { metadata: { name: 'a', managedFields: [1] } }
    const { get } = await start(
      policy,
      serveAs((_req, res) => sendJson(res, 200, { items: [item], ...item })),
    )
    await get('/api/v1/configmaps')
    const bare = { metadata: { name: 'a' } }
    expect(events().map(({ responseObject }) => responseObject)).to.deep.equal([{ items: [bare], ...bare }])
  })

  it('preserves the text of bodies on one line: numbers, escapes, order, duplicate fields, any depth', async () => {
    const { port } = await start(
      whole,
      serveAs(async (req, res) => {
        await read(req)
        res.end('{"spec":{"n":9223372036854775807,"10":1.0,"9":-0}}\n')
      }),
    )
    const deep = `${'{"a":['.repeat(5_000)}1${']}'.repeat(5_000)}`
    const body = `{"b":1e3,"10":"\\u003c","9":9007199254740993,"b":2,"__proto__":{},"deep":${deep}}`
    await post(port, '/api/v1/namespaces/a/configmaps', body.replaceAll(',', ',\r\n '))
    expect(lines[1]).to.not.match(/[\r\n]/)
    expect(lines[1]).to.contain(
      `"requestObject":${body},"responseObject":{"spec":{"n":9223372036854775807,"10":1.0,"9":-0}},`,
    )
  })

  it('removes managedFields from the text of a body', async () => {
    const { port } = await start(
      '{apiVersion: audit.k8s.io/v1, kind: Policy, omitManagedFields: true, rules: [{level: RequestResponse}]}',
      serveAs(async (req, res) => {
        await read(req)
        res.end(
          '{"items":[{"metadata":{"managedFields":[],"n":1.0}}],"metadata":{"managedFields":[1],"x":1e3}}',
        )
      }),
    )
    await post(
      port,
      '/api/v1/namespaces/a/configmaps',
      '{"metadata":{"managedFields":[{}],"n":9007199254740993}}',
    )
    expect(lines.at(-1)).to.contain(
      '"requestObject":{"metadata":{"n":9007199254740993}},"responseObject":{"items":[{"metadata":{"n":1.0}}],"metadata":{"x":1e3}},',
    )
  })

  it('records rejected callers with the reason', async () => {
    const { get } = await start(whole, (record, req, res) => {
      record.identified(toExchange(req, res), undefined)
      record.failed(new Status(403, 'Forbidden', 'pods is forbidden'))
      sendJson(res, 403, {})
    })
    await get('/api/v1/pods')
    expect(events()[1]).to.deep.include({
      responseStatus: {
        ...{ metadata: {}, status: 'Failure', message: 'pods is forbidden', reason: 'Forbidden', code: 403 },
      },
      annotations: {
        'authorization.k8s.io/decision': 'forbid',
        'authorization.k8s.io/reason': 'pods is forbidden',
      },
    })
  })

  it('records requests whose caller could not be determined', async () => {
    const { get } = await start(whole, (record, _req, res) => {
      record.failed(unauthorized())
      sendJson(res, 401, {})
    })
    await get('/api/v1/pods')
    expect(events()).to.have.length(1)
    expect(events()[0]).to.deep.include({ stage: 'ResponseComplete', user: {} })
  })

  it('records both the caller and the impersonated user', async () => {
    const { get } = await start(whole, (record, req, res) => {
      record.identified(toExchange(req, res), { username: 'bob', uid: '', groups: [], extra: {} })
      sendJson(res, 200, {})
    })
    await get('/api/v1/pods')
    expect([Object(events()[1]?.user).username, events()[1]?.impersonatedUser]).to.deep.equal([
      'jane',
      { username: 'bob' },
    ])
  })

  it('records a watch when it begins and when it ends, without bodies', async () => {
    const { get } = await start(
      whole,
      serveAs((_req, res) => res.writeHead(200).end('{"type":"ADDED"}')),
    )
    await get('/api/v1/pods?watch=true')
    expect(events().map(({ stage, responseObject }) => [stage, responseObject])).to.deep.equal([
      ['RequestReceived', undefined],
      ['ResponseStarted', undefined],
      ['ResponseComplete', undefined],
    ])
  })

  it('records nothing at level None', async () => {
    const policy = '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None}]}'
    const { get } = await start(
      policy,
      serveAs((_req, res) => sendJson(res, 200, {})),
    )
    await get('/api/v1/pods')
    expect(events()).to.deep.equal([])
  })

  it('trusts a forwarded source address from kube-apiserver only', async () => {
    const { get } = await start(whole, (record, req, res) => {
      const isAggregated = req.url === '/apis/aggregated'
      record.identified({ ...toExchange(req, res), identity: jane, isAggregated }, undefined)
      sendJson(res, 200, {})
    })
    for (const path of ['/apis/aggregated', '/apis/direct'])
      await get(path, { headers: { 'x-forwarded-for': '10.0.0.1, 10.0.0.2' } })
    const addresses = events()
      .filter(({ stage }) => stage === 'ResponseComplete')
      .map(({ sourceIPs }) => sourceIPs)
    expect(addresses.map(list => (Array.isArray(list) ? list.slice(0, -1) : list))).to.deep.equal([
      ['10.0.0.1', '10.0.0.2'],
      [],
    ])
  })

  it('rejects requests while the log is full, if configured', () => {
    const sink = { isFull: true, write: () => undefined }
    const auditor = createAuditor({ policy: parsePolicy(whole), sink, whenFull: 'refuse' })
    const exchange = toExchange(Object.create({ method: 'GET', url: '/a' }), Object.create(null))
    expect(() => auditor.begin(exchange))
      .to.throw(Status, 'failed to write the audit log')
      .with.property('code', 503)
  })
})

import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import { type Loopback, startLoopback, toExchange } from '../../../apirequest/fixtures.ts'
import { sendJson } from '../../../httpserver/response/respond.ts'
import { createLoggingApi } from './serve.ts'

const base = '/kapis/logging.example.org/v1alpha2'

describe('createLoggingApi', () => {
  let loopback: Loopback | undefined
  before(async () => {
    const api = createLoggingApi({
      groupDomain: 'example.org',
      logs: async ({ res }, place) => sendJson(res, 200, { place: place ?? 'everywhere' }),
      logsql: ({ res }) => sendJson(res, 200, { logsql: true }),
      ingest: ({ res }) => sendJson(res, 200, { ingest: true }),
      recordings: ({ res, info }) => sendJson(res, 200, { recording: info.name }),
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        await api(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => loopback?.close())
  const send = async (path: string) => {
    const response = await loopback?.get(base + path)
    return { code: response?.code, body: JSON.parse(response?.text ?? '') }
  }
  const isOneOf = (field: string, value: string) => ({
    op: 'match',
    field,
    test: { kind: 'in', values: [value] },
  })

  it('serves the cluster, a container and ingestion', async () => {
    expect(await send('/cluster')).to.deep.equal({ code: 200, body: { place: 'everywhere' } })
    expect(await send('/select/logsql/query')).to.deep.equal({ code: 200, body: { logsql: true } })
    expect(await send('/ingest/_bulk')).to.deep.equal({ code: 200, body: { ingest: true } })
    for (const path of ['/sessionrecordings', '/namespaces/shop/sessionrecordings'])
      for (const name of ['', 'one'])
        expect(await send(name === '' ? path : `${path}/${name}`)).to.deep.equal({
          code: 200,
          body: { recording: name },
        })
    const operands = [isOneOf('namespace', 'a'), isOneOf('pod', 'b'), isOneOf('container', 'c')]
    expect(await send('/namespaces/a/pods/b/containers/c')).to.deep.equal({
      code: 200,
      body: { place: { op: 'and', operands } },
    })
  })

  const logs = '/kapis/tenant.example.org/v1alpha2/logs'
  const removed: Readonly<Record<string, string>> = {
    '/workspaces/w': `logs by workspace are no longer served here: use ${logs}?namespaces= with the namespaces of the workspace`,
    '/namespaces/n': `logs by namespace are no longer served here: use ${logs}?namespaces=n`,
    '/namespaces/n/workloads/w': `logs by workload are no longer served here: use ${logs}?namespaces=n&workloads=w`,
    '/namespaces/n/pods/p': `logs by pod are no longer served here: use ${logs}?namespaces=n&pods=p`,
    '/fluentbit/outputs':
      'log settings are no longer served here: configure Fluent Bit itself to send to /kapis/logging.example.org/v1alpha2/ingest',
    '/fluentbit/outputs/1/x':
      'log settings are no longer served here: configure Fluent Bit itself to send to /kapis/logging.example.org/v1alpha2/ingest',
  }
  for (const [path, message] of Object.entries(removed)) {
    it(`names the replacement of ${path}`, async () => {
      const { code, body } = await send(path)
      expect([code, body.reason, body.message]).to.deep.equal([404, 'NotFound', message])
    })
  }

  for (const path of [
    '/x',
    '/cluster/x',
    '/namespaces',
    '/namespaces/a/pods/b/containers',
    '/namespaces/a/jobs/b',
  ]) {
    it(`does not serve ${path}`, async () => {
      const { code, body } = await send(path)
      expect([code, body.message]).to.deep.equal([404, 'the server could not find the requested resource'])
    })
  }
})

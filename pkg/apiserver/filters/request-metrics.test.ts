import { expect } from 'chai'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { parseRequestInfo } from '../../apirequest/request-info.ts'
import { createRegistry } from '../../telemetry/metrics.ts'
import { createRequestMetrics } from './request-metrics.ts'

const g = '/apis/resources.kapis.io/v1alpha3'

function create() {
  const registry = createRegistry()
  const metrics = createRequestMetrics(
    registry,
    (group, resource) => group === 'resources.kapis.io' && resource === 'nodes',
  )
  const note = (method: string, url: string, code = 200) => {
    const [path = '', query = ''] = url.split('?')
    metrics.started()
    const cluster = /^\/clusters\/([^/]+)/.exec(path)?.[1]
    metrics.finished(parseRequestInfo(method, path, new QueryParameters(query), cluster), code, 0.003)
  }
  const lines = async (name: string) =>
    (await registry.metrics()).split('\n').filter(line => line.startsWith(name) && !line.startsWith('#'))
  return { metrics, note, lines }
}

const labels = (verb: string, resource: string, scope: string, code = 200) =>
  `apiserver_request_total{verb="${verb}",group="${resource && 'resources.kapis.io'}",` +
  `version="${resource && 'v1alpha3'}",resource="${resource}",scope="${scope}",code="${code}"} 1`

describe('createRequestMetrics', () => {
  const table: readonly [string, string, number, string][] = [
    ['GET', `${g}/nodes`, 200, labels('LIST', 'nodes', 'cluster')],
    ['GET', `${g}/nodes?watch=1`, 200, labels('WATCH', 'nodes', 'cluster')],
    ['GET', `${g}/nodes/n1`, 404, labels('GET', 'nodes', 'resource', 404)],
    ['GET', `${g}/namespaces/x/nodes`, 404, labels('LIST', 'nodes', 'namespace', 404)],
    ['DELETE', `${g}/nodes`, 405, labels('DELETECOLLECTION', 'nodes', 'cluster', 405)],
    ['TRACE', `${g}/nodes`, 405, labels('OTHER', 'nodes', 'cluster', 405)],
    ['GET', `${g}/proxy/nodes/n1`, 404, labels('OTHER', 'nodes', 'resource', 404)],
    ['GET', `/clusters/m${g}/nodes`, 200, labels('NONRESOURCE', '', '')],
    // All names that callers invent are counted in a single row.
    ['GET', `${g}/invented`, 404, labels('NONRESOURCE', '', '', 404)],
    ['GET', '/apis/invented.example.org/v1/nodes', 404, labels('NONRESOURCE', '', '', 404)],
    ['GET', '/healthz', 200, labels('NONRESOURCE', '', '')],
  ]
  for (const [method, url, code, line] of table) {
    it(`counts ${method} ${url}`, async () => {
      const { note, lines } = create()
      note(method, url, code)
      expect(await lines('apiserver_request_total')).to.deep.equal([line])
    })
  }

  it('counts a request whose request line could not be parsed', async () => {
    const { metrics, lines } = create()
    metrics.started()
    metrics.finished(undefined, 400, 0)
    expect(await lines('apiserver_request_total')).to.deep.equal([labels('NONRESOURCE', '', '', 400)])
  })

  it('does not let callers create new label values', async () => {
    const { note, lines } = create()
    for (let i = 0; i < 50; i++) note('GET', `/apis/g${i}.io/v${i}/r${i}`, 404)
    expect(await lines('apiserver_request_total')).to.have.length(1)
  })

  it('measures the duration of short requests, not of watches, terminals and followed logs', async () => {
    const { metrics, note, lines } = create()
    metrics.started()
    metrics.finished(parseRequestInfo('GET', `${g}/nodes/n1`), 101, undefined)
    note('GET', `${g}/nodes?watch=1`)
    expect(await lines('apiserver_request_duration_seconds_count')).to.deep.equal([])
    note('GET', `${g}/nodes`)
    const [line] = await lines('apiserver_request_duration_seconds_count')
    expect(line).to.match(/verb="LIST".* 1$/)
    expect(line).to.not.contain('code=')
  })

  it('reports the number of requests in flight', async () => {
    const { metrics, lines } = create()
    const inFlight = async () => (await lines('apiserver_current_inflight_requests'))[0]
    metrics.started()
    metrics.started()
    expect(await inFlight()).to.equal('apiserver_current_inflight_requests 2')
    metrics.finished(undefined, 200, 0)
    expect(await inFlight()).to.equal('apiserver_current_inflight_requests 1')
  })
})

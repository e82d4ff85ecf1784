import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { toAggregatedKinds } from '../../resourcecache/kinds.ts'
import { createDiscovery } from './discovery.ts'
import type { ServedGroup } from './served-group.ts'

const groups: readonly ServedGroup[] = [
  {
    group: 'resources.example.io',
    version: 'v1alpha3',
    resources: [
      { plural: 'nodes', singular: 'node', kind: 'Node', namespaced: false, shortNames: [], categories: [] },
      {
        plural: 'pods',
        singular: 'pod',
        kind: 'Pod',
        namespaced: true,
        verbs: ['get', 'list'],
        shortNames: ['p'],
        categories: ['platform'],
      },
    ],
  },
]
const verbs = ['get', 'list', 'watch']
const version = { groupVersion: 'resources.example.io/v1alpha3', version: 'v1alpha3' }
const group = { name: 'resources.example.io', versions: [version], preferredVersion: version }
const groupList = { kind: 'APIGroupList', apiVersion: 'v1', groups: [group] }
const resourceList = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'resources.example.io/v1alpha3',
  resources: [
    { name: 'nodes', singularName: 'node', namespaced: false, kind: 'Node', verbs },
    {
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['get', 'list'],
      shortNames: ['p'],
      categories: ['platform'],
    },
  ],
}

function aggregated(apiVersion: string) {
  const kindOf = (kind: string) => ({ group: 'resources.example.io', version: 'v1alpha3', kind })
  const nodes = {
    resource: 'nodes',
    responseKind: kindOf('Node'),
    scope: 'Cluster',
    singularResource: 'node',
    verbs,
  }
  const pods = {
    resource: 'pods',
    responseKind: kindOf('Pod'),
    scope: 'Namespaced',
    singularResource: 'pod',
    verbs: ['get', 'list'],
    shortNames: ['p'],
    categories: ['platform'],
  }
  const versions = [{ version: 'v1alpha3', resources: [nodes, pods], freshness: 'Current' }]
  const metadata = { name: 'resources.example.io', creationTimestamp: null }
  return { kind: 'APIGroupDiscoveryList', apiVersion, metadata: {}, items: [{ metadata, versions }] }
}

const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const v2beta1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'

describe('createDiscovery', () => {
  const discovery = createDiscovery(groups)
  let server: Loopback
  before(async () => {
    server = await startLoopback(async (req, res) => {
      try {
        await discovery.handle(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => server.close())

  const plain: readonly [string, unknown][] = [
    ['/apis', groupList],
    ['/apis/', groupList],
    ['/apis?timeout=32s', groupList],
    ['/apis/resources.example.io', { kind: 'APIGroup', apiVersion: 'v1', ...group }],
    ['/apis/resources.example.io/', { kind: 'APIGroup', apiVersion: 'v1', ...group }],
    ['/apis/resources.example.io/v1alpha3', resourceList],
    ['/apis/resources.example.io/v1alpha3/', resourceList],
  ]
  for (const [path, expected] of plain) {
    it(`serves ${path} as plain JSON`, async () => {
      const { code, headers, body } = await server.get(path)
      expect(code).to.equal(200)
      expect(headers).to.include({
        'content-type': 'application/json',
        'cache-control': 'no-cache, private',
        'content-length': String(body.length),
      })
      expect(JSON.parse(body.toString())).to.deep.equal(expected)
    })
  }

  const accepts: readonly [string, string, string][] = [
    [v2, v2, 'apidiscovery.k8s.io/v2'],
    [v2beta1, v2beta1, 'apidiscovery.k8s.io/v2beta1'],
    [`${v2},${v2beta1}`, v2, 'apidiscovery.k8s.io/v2'],
    [`${v2};profile=nopeer,${v2},${v2beta1},application/json`, v2, 'apidiscovery.k8s.io/v2'],
    ['application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io', v2, 'apidiscovery.k8s.io/v2'],
    [
      `application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,${v2beta1}`,
      v2beta1,
      'apidiscovery.k8s.io/v2beta1',
    ],
    ['application/json;g=apidiscovery.k8s.io;v=v3;as=X,application/json', 'application/json', 'v1'],
    [`application/vnd.kubernetes.protobuf,${v2};q=0.5,*/*;q=0.1`, v2, 'apidiscovery.k8s.io/v2'],
    [`application/json,${v2}`, 'application/json', 'v1'],
  ]
  for (const [accept, contentType, apiVersion] of accepts) {
    it(`serves /apis for ${accept} as ${apiVersion}`, async () => {
      const { code, headers, body } = await server.get('/apis', { headers: { accept } })
      expect(code).to.equal(200)
      expect(headers['content-type']).to.equal(contentType)
      expect(headers.vary).to.match(/^Accept\b/)
      const expected = apiVersion === 'v1' ? groupList : aggregated(apiVersion)
      expect(JSON.parse(body.toString())).to.deep.equal(expected)
    })
  }

  it('returns 304 to clients with the current document', async () => {
    const first = await server.get('/apis', { headers: { accept: v2 } })
    expect(first.headers['cache-control']).to.equal('public')
    const etag = first.headers.etag ?? ''
    expect(etag).to.match(/^"[0-9A-F]{128}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await server.get('/apis', { headers: { accept: v2, 'if-none-match': known } })
      expect([again.code, again.body.length, again.headers.etag]).to.deep.equal([304, 0, etag])
    }
    for (const other of ['"other"', etag.slice(1, -1)]) {
      expect(await server.get('/apis', { headers: { accept: v2, 'if-none-match': other } })).to.include({
        code: 200,
      })
    }
    const beta = await server.get('/apis', { headers: { accept: v2beta1, 'if-none-match': etag } })
    expect(beta.code).to.equal(200)
  })

  it('returns YAML, and indented JSON for terminals and browsers', async () => {
    const yaml = await server.get('/apis/resources.example.io', { headers: { accept: 'application/yaml' } })
    expect(yaml.headers['content-type']).to.equal('application/yaml')
    expect(yaml.body.toString()).to.match(/^kind: APIGroup\napiVersion: v1\nname: resources.example.io\n/)
    const pretty = await server.get('/apis/resources.example.io', { headers: { 'user-agent': 'curl/8' } })
    expect(pretty.body.toString()).to.match(/^{\n {2}"kind": "APIGroup"/)
  })

  const notAcceptable: readonly [string, string][] = [
    ['/apis', 'text/html'],
    ['/apis', 'application/vnd.kubernetes.protobuf'],
    ['/apis/resources.example.io', v2],
    ['/apis/resources.example.io/v1alpha3', 'application/json;as=Table;g=meta.k8s.io;v=v1'],
  ]
  for (const [path, accept] of notAcceptable) {
    it(`rejects ${accept} of ${path}`, async () => {
      const { code, headers, body } = await server.get(path, { headers: { accept } })
      expect(code).to.equal(406)
      expect(headers['content-type']).to.equal('application/json')
      expect(JSON.parse(body.toString())).to.deep.equal({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'only the following media types are accepted: application/json, application/yaml',
        reason: 'NotAcceptable',
        code: 406,
      })
    })
  }

  it('accepts only GET', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) {
      const { code, headers } = await server.get('/apis', { method })
      expect([code, headers.allow]).to.deep.equal([405, 'GET'])
    }
  })

  it('handles only its own paths', () => {
    const { handles } = discovery
    const foreign = [
      '/',
      '/api',
      '/apis/apps',
      '/apis/resources.example.io/v1',
      '/apis/resources.example.io/v1alpha3/nodes',
    ]
    for (const path of foreign) expect(handles(path), path).to.equal(false)
    for (const [path] of plain) expect(handles(path.split('?')[0] ?? ''), path).to.equal(true)
  })
})

describe('the table of kinds', () => {
  it('has no short name that kubectl resolves to another kind', () => {
    for (const { shortNames, categories } of toAggregatedKinds('kapis.io')) {
      expect(shortNames).to.not.include.members(['no'])
      expect(categories).to.not.include.members(['all'])
    }
  })
})

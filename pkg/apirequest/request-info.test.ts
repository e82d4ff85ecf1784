import { expect } from 'chai'
import { QueryParameters } from './query/query-parameters.ts'
import {
  isInScope,
  parseRequestInfo,
  type RequestInfo,
  toResourceInfo,
  withoutSelectors,
} from './request-info.ts'

function read(method: string, url: string): RequestInfo {
  const [path = '', query = ''] = url.split('?')
  return parseRequestInfo(method, path, new QueryParameters(query))
}

const attributes = [
  'prefix',
  'verb',
  'group',
  'version',
  'namespace',
  'resource',
  'subresource',
  'name',
] as const
type Expected = Partial<Pick<RequestInfo, (typeof attributes)[number] | 'isInNamespace' | 'namedBy'>>

function attributesOf(info: RequestInfo): Expected {
  const given = attributes.filter(name => info[name] !== '').map(name => [name, info[name]])
  const { isInNamespace, namedBy } = info
  return {
    ...Object.fromEntries(given),
    ...(isInNamespace ? { isInNamespace } : {}),
    ...(namedBy === 'fieldSelector' ? { namedBy } : {}),
  }
}

describe('parseRequestInfo', () => {
  const core = { prefix: 'api', version: 'v1' }
  const nodes = { prefix: 'apis', group: 'resources.kapis.io', version: 'v1alpha3', resource: 'nodes' }
  const g = '/apis/resources.kapis.io/v1alpha3'
  const inNs = { ...core, namespace: 'ns', isInNamespace: true }
  const bySelector = { namedBy: 'fieldSelector' } as const

  const rows: readonly (readonly [request: string, expected: Expected])[] = [
    // The prefixes of APIs.
    ['GET /api/v1/nodes', { ...core, verb: 'list', resource: 'nodes' }],
    [`GET ${g}/nodes`, { ...nodes, verb: 'list' }],
    ['GET /kapis/resources.kapis.io/v1alpha3/nodes', { ...nodes, prefix: 'kapis', verb: 'list' }],
    ['GET /kapi/resources.kapis.io/v1alpha3/nodes', { ...nodes, prefix: 'kapi', verb: 'list' }],
    ['GET /kapi/v1/nodes', { ...core, prefix: 'kapi', verb: 'list', resource: 'nodes' }],
    [`GET ${g}/nodes/`, { ...nodes, verb: 'list' }],
    [`GET ${g}/nodes/n1/`, { ...nodes, verb: 'get', name: 'n1' }],

    // The verb follows from the method.
    ['HEAD /api/v1/nodes', { ...core, verb: 'list', resource: 'nodes' }],
    [`GET ${g}/nodes/n1`, { ...nodes, verb: 'get', name: 'n1' }],
    [`HEAD ${g}/nodes/n1`, { ...nodes, verb: 'get', name: 'n1' }],
    [`POST ${g}/nodes`, { ...nodes, verb: 'create' }],
    [`PUT ${g}/nodes/n1`, { ...nodes, verb: 'update', name: 'n1' }],
    [`PATCH ${g}/nodes/n1`, { ...nodes, verb: 'patch', name: 'n1' }],
    [`DELETE ${g}/nodes/n1`, { ...nodes, verb: 'delete', name: 'n1' }],
    [`DELETE ${g}/nodes`, { ...nodes, verb: 'deletecollection' }],
    // An unknown method has no verb, so only callers with all verbs may use it.
    [`OPTIONS ${g}/nodes`, { ...nodes }],
    [`TRACE ${g}/nodes/n1`, { ...nodes, name: 'n1' }],
    [`MKCOL ${g}/nodes/n1`, { ...nodes, name: 'n1' }],
    [`QUERY ${g}/watch/nodes`, { ...nodes }],

    // Watches.
    [`GET ${g}/nodes?watch=true`, { ...nodes, verb: 'watch' }],
    [`GET ${g}/nodes?watch=1`, { ...nodes, verb: 'watch' }],
    [`GET ${g}/nodes?watch`, { ...nodes, verb: 'watch' }],
    [`GET ${g}/nodes?watch=`, { ...nodes, verb: 'watch' }],
    [`GET ${g}/nodes?watch=yes`, { ...nodes, verb: 'watch' }],
    [`GET ${g}/nodes?w%61tch=true`, { ...nodes, verb: 'watch' }],
    [`HEAD ${g}/nodes?watch=true`, { ...nodes, verb: 'watch' }],
    [`GET ${g}/nodes?watch=false`, { ...nodes, verb: 'list' }],
    // apimachinery ignores case.
    [`GET ${g}/nodes?watch=FALSE`, { ...nodes, verb: 'list' }],
    [`GET ${g}/nodes?watch=0`, { ...nodes, verb: 'list' }],
    [`GET ${g}/nodes?Watch=true`, { ...nodes, verb: 'list' }],
    [`GET ${g}/nodes/n1?watch=true`, { ...nodes, verb: 'get', name: 'n1' }],
    [`POST ${g}/nodes?watch=true`, { ...nodes, verb: 'create' }],
    [`DELETE ${g}/nodes?watch=true`, { ...nodes, verb: 'deletecollection' }],

    // The deprecated path prefixes watch and proxy: a request that writes is never a watch.
    [`GET ${g}/watch/nodes`, { ...nodes, verb: 'watch' }],
    [`HEAD ${g}/watch/nodes`, { ...nodes, verb: 'watch' }],
    [`GET ${g}/watch/nodes?watch=false`, { ...nodes, verb: 'watch' }],
    [`GET ${g}/watch/nodes/n1`, { ...nodes, verb: 'watch', name: 'n1' }],
    ['GET /api/v1/watch/namespaces/ns/pods/p', { ...inNs, verb: 'watch', resource: 'pods', name: 'p' }],
    [`POST ${g}/watch/nodes`, { ...nodes, verb: 'create' }],
    [`PUT ${g}/watch/nodes/n1`, { ...nodes, verb: 'update', name: 'n1' }],
    [`PATCH ${g}/watch/nodes/n1`, { ...nodes, verb: 'patch', name: 'n1' }],
    [`DELETE ${g}/watch/nodes/n1`, { ...nodes, verb: 'delete', name: 'n1' }],
    [`DELETE ${g}/watch/nodes`, { ...nodes, verb: 'deletecollection' }],
    [`DELETE ${g}/watch/nodes?watch=true`, { ...nodes, verb: 'deletecollection' }],
    [
      'POST /kapis/x.io/v1/watch/namespaces/ns/secrets/s/verify',
      {
        ...{ prefix: 'kapis', group: 'x.io', version: 'v1', verb: 'create' },
        ...{ namespace: 'ns', isInNamespace: true, resource: 'secrets', name: 's', subresource: 'verify' },
      },
    ],
    ['GET /api/v1/proxy/nodes/n1', { ...core, verb: 'proxy', resource: 'nodes', name: 'n1' }],
    ['POST /api/v1/proxy/nodes/n1', { ...core, verb: 'proxy', resource: 'nodes', name: 'n1' }],
    ['GET /api/v1/proxy/nodes/n1/logs/x', { ...core, verb: 'proxy', resource: 'nodes', name: 'n1' }],
    ['GET /api/v1/watch/proxy/nodes', { ...core, verb: 'watch', resource: 'proxy', name: 'nodes' }],

    // Namespaces.
    ['GET /api/v1/namespaces', { ...core, verb: 'list', resource: 'namespaces' }],
    [
      'GET /api/v1/namespaces/ns',
      { ...core, verb: 'get', namespace: 'ns', resource: 'namespaces', name: 'ns' },
    ],
    [
      'PUT /api/v1/namespaces/ns/status',
      { ...core, verb: 'update', namespace: 'ns', resource: 'namespaces', name: 'ns', subresource: 'status' },
    ],
    [
      'PUT /api/v1/namespaces/ns/finalize',
      {
        ...core,
        verb: 'update',
        namespace: 'ns',
        resource: 'namespaces',
        name: 'ns',
        subresource: 'finalize',
      },
    ],
    [
      'GET /api/v1/namespaces/ns/status/s1',
      { ...core, verb: 'get', namespace: 'ns', resource: 'namespaces', name: 'ns', subresource: 'status' },
    ],
    ['GET /api/v1/namespaces/ns/pods', { ...inNs, verb: 'list', resource: 'pods' }],
    ['GET /api/v1/namespaces/ns/namespaces', { ...inNs, verb: 'list', resource: 'namespaces' }],
    ['GET /api/v1/namespaces/ns/namespaces/x', { ...inNs, verb: 'get', resource: 'namespaces', name: 'x' }],
    [
      'GET /api/v1/namespaces/ns/pods/p/log',
      { ...inNs, verb: 'get', resource: 'pods', name: 'p', subresource: 'log' },
    ],
    [
      'POST /api/v1/namespaces/ns/services/s/proxy/admin/x',
      { ...inNs, verb: 'create', resource: 'services', name: 's', subresource: 'proxy' },
    ],
    // An object with the name of a deprecated path prefix.
    ['GET /api/v1/nodes/watch', { ...core, verb: 'get', resource: 'nodes', name: 'watch' }],

    // A list that a field selector limits to one name is authorized with that name.
    [
      `GET ${g}/nodes?fieldSelector=metadata.name%3Dn1`,
      { ...nodes, verb: 'list', name: 'n1', ...bySelector },
    ],
    [
      `GET ${g}/nodes?%66ieldSelector=metadata.name%3Dn1`,
      { ...nodes, verb: 'list', name: 'n1', ...bySelector },
    ],
    [
      `GET ${g}/nodes?fieldSelector=metadata.name==n1&watch=1`,
      { ...nodes, verb: 'watch', name: 'n1', ...bySelector },
    ],
    [
      `GET ${g}/nodes?fieldSelector=spec.x=y,metadata.name=n1`,
      { ...nodes, verb: 'list', name: 'n1', ...bySelector },
    ],
    [
      `GET ${g}/nodes?fieldSelector=metadata.name=n1,metadata.name!=n2`,
      { ...nodes, verb: 'list', name: 'n1', ...bySelector },
    ],
    [
      `GET ${g}/nodes?fieldSelector=metadata.name=n2,metadata.name=n1`,
      { ...nodes, verb: 'list', name: 'n1', ...bySelector },
    ],
    [
      `GET ${g}/nodes?fieldSelector=metadata.name=a%5C,metadata.name%5C=b`,
      { ...nodes, verb: 'list', name: 'a,metadata.name=b', ...bySelector },
    ],
    // The name in the path takes precedence.
    [`GET ${g}/nodes/n2?fieldSelector=metadata.name=n1`, { ...nodes, verb: 'get', name: 'n2' }],
    // A field selector after a deprecated prefix sets no name, and neither does that of a
    // deletecollection.
    [`GET ${g}/watch/nodes?fieldSelector=metadata.name=n1`, { ...nodes, verb: 'watch' }],
    [`DELETE ${g}/nodes?fieldSelector=metadata.name=n1`, { ...nodes, verb: 'deletecollection' }],
    [`POST ${g}/nodes?fieldSelector=metadata.name=n1`, { ...nodes, verb: 'create' }],
    // Selectors that also match other names, are invalid, or contain an invalid object name.
    ...[
      ...[
        'metadata.name!=n1',
        'metadata.name=',
        'xmetadata.name=n1',
        'metadata.name=a=b',
        'METADATA.NAME=n1',
      ],
      ...['metadata.name=n1,x', 'metadata.name=n1%5C', 'metadata.name=n1%5Cx', '+metadata.name=n1'],
      ...['metadata.name=.', 'metadata.name=..', 'metadata.name=a/b', 'metadata.name=a%25b'],
      ...['metadata.namespace=n1', 'metadata.name%5C=n1', "metadata['name']=n1"],
    ].map((selector): [string, Expected] => [
      `GET ${g}/nodes?fieldSelector=${selector}`,
      { ...nodes, verb: 'list' },
    ]),
    [`GET ${g}/nodes?FieldSelector=metadata.name=n1`, { ...nodes, verb: 'list' }],
    // Parameters that Go drops are ignored.
    [`GET ${g}/nodes?fieldSelector=metadata.name=n1;x=1`, { ...nodes, verb: 'list' }],
    [`GET ${g}/nodes?fieldSelector=metadata.name=n1%zz`, { ...nodes, verb: 'list' }],
    // If kube-apiserver cannot parse a parameter of the list, the field selector sets no name.
    ...['limit=x', 'limit=', 'limit=1.5', 'timeoutSeconds=9223372036854775808', 'labelSelector=a=b=c'].map(
      (other): [string, Expected] => [
        `GET ${g}/nodes?fieldSelector=metadata.name=n1&${other}`,
        { ...nodes, verb: 'list' },
      ],
    ),
    [
      `GET ${g}/nodes?fieldSelector=metadata.name=n1&limit=%2B5&timeoutSeconds=-1`,
      { ...nodes, verb: 'list', name: 'n1', ...bySelector },
    ],
    // kube-apiserver uses the first of repeated values; Kapis rejects them.
    [
      `GET ${g}/nodes?fieldSelector=metadata.name=n1&fieldSelector=metadata.name=n2`,
      { ...nodes, verb: 'list', name: 'n1', ...bySelector },
    ],
    [`GET ${g}/nodes?fieldSelector=&fieldSelector=metadata.name=n2`, { ...nodes, verb: 'list' }],
    [`GET ${g}/nodes?watch=false&watch=true`, { ...nodes, verb: 'list' }],
  ]
  for (const [request, expected] of rows) {
    it(request, () => {
      const [method = '', url = ''] = request.split(' ')
      const info = read(method, url)
      expect(attributesOf(info)).to.deep.equal(expected)
      expect(info.path).to.equal(url.split('?')[0])
      expect(info.isResource).to.equal(true)
      expect(info).to.satisfy(Object.isFrozen)
    })
  }

  it('never treats a request that may write as a read', () => {
    const reading = new Set(['get', 'list', 'watch'])
    for (const [request] of rows) {
      const [, url = ''] = request.split(' ')
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get', ''])
        expect(reading.has(read(method, url).verb), `${method} ${url}`).to.equal(false)
    }
  })

  it('preserves the segments of the path', () => {
    expect(read('GET', '/api/v1/watch/namespaces/ns/pods/p/').parts).to.deep.equal([
      'watch',
      ...['namespaces', 'ns', 'pods', 'p'],
    ])
  })

  it('contains the selectors of list, watch and deletecollection requests only', () => {
    const query = 'fieldSelector=a%3Db&labelSelector=c'
    const selectorsOf = (method: string, path: string) => {
      const { fieldSelector, labelSelector } = read(method, `${path}?${query}`)
      return [fieldSelector.text, labelSelector.text]
    }
    for (const method of ['GET', 'HEAD', 'DELETE'])
      expect(selectorsOf(method, '/api/v1/pods')).to.deep.equal(['a=b', 'c'])
    for (const method of ['POST', 'PUT', 'PATCH'])
      expect(selectorsOf(method, '/api/v1/pods')).to.deep.equal(['', ''])
    expect(selectorsOf('GET', '/api/v1/nodes/n1')).to.deep.equal(['', ''])
    expect(selectorsOf('GET', '/api/v1/watch/pods')).to.deep.equal(['', ''])
  })

  const others: readonly (readonly [method: string, path: string, prefix: string])[] = [
    ['GET', '/', ''],
    ['GET', '/api', 'api'],
    ['GET', '/api/v1', 'api'],
    ['GET', '/apis', 'apis'],
    ['GET', '/apis/resources.kapis.io', 'apis'],
    ['GET', '/apis/resources.kapis.io/v1alpha3', 'apis'],
    ['GET', '/apis/resources.kapis.io/v1alpha3/', 'apis'],
    ['GET', '/kapis/resources.kapis.io/v1alpha3', 'kapis'],
    ['GET', '/kapi/v1', 'kapi'],
    ['GET', '/api/v1/watch', 'api'],
    ['POST', '/apis/g/v/proxy', 'apis'],
    ['GET', '/healthz', 'healthz'],
    ['GET', '/openapi/v3/apis/g/v1', 'openapi'],
    ['POST', '/oauth/token', 'oauth'],
    ['GET', '/metrics', 'metrics'],
    ['GET', '/API/v1/nodes', 'API'],
    ['GET', '/Kapis/g/v1/nodes', 'Kapis'],
    ['GET', '/api v1/nodes/x', 'api v1'],
    ['OPTIONS', '/version', 'version'],
  ]
  for (const [method, path, prefix] of others) {
    it(`treats ${method} ${path} as a non-resource request`, () => {
      const info = read(method, path)
      expect(attributesOf(info)).to.deep.equal({
        ...(prefix === '' ? {} : { prefix }),
        verb: method.toLowerCase(),
      })
      expect(info).to.deep.include({ isResource: false, path, parts: [] })
    })
  }
})

describe('toResourceInfo', () => {
  it('returns the attributes of a permission without a request', () => {
    const target = { verb: 'get', resource: 'secrets', namespace: 'ns', name: 'a/../b' }
    expect(attributesOf(toResourceInfo(target))).to.deep.equal({
      ...{ prefix: 'api', isInNamespace: true },
      ...target,
    })
  })
})

describe('withoutSelectors', () => {
  it('keeps the name in the path', () => {
    const listed = withoutSelectors(
      read('GET', '/api/v1/pods?fieldSelector=metadata.name%3Da&labelSelector=b'),
    )
    expect(listed).to.deep.include({ verb: 'list', name: '', namedBy: '' })
    expect([listed.fieldSelector.text, listed.labelSelector.text]).to.deep.equal(['', ''])
    const object = read('GET', '/api/v1/nodes/n?fieldSelector=metadata.name%3Da')
    expect(withoutSelectors(object)).to.equal(object)
    expect(withoutSelectors(object).name).to.equal('n')
  })
})

describe('isInScope', () => {
  const rows: readonly (readonly [path: string, cluster: boolean, namespaced: boolean])[] = [
    ['/api/v1/things', true, true],
    ['/api/v1/things?fieldSelector=metadata.name%3Dx', true, true],
    ['/api/v1/things/x', true, false],
    ['/api/v1/watch/things/x', true, false],
    ['/api/v1/namespaces/ns', true, false],
    ['/api/v1/namespaces', true, true],
    ['/api/v1/namespaces/ns/things', false, true],
    ['/api/v1/namespaces/ns/things/x', false, true],
    ['/api/v1/namespaces/ns/namespaces', false, true],
    ['/api/v1/namespaces/ns/namespaces/x', false, true],
    ['/api/v1/watch/namespaces/ns/namespaces', false, true],
  ]
  for (const [path, cluster, namespaced] of rows) {
    it(`is correct for ${path}`, () => {
      const info = read('GET', path)
      expect(isInScope(info, { namespaced: false })).to.equal(cluster)
      expect(isInScope(info, { namespaced: true })).to.equal(namespaced)
    })
  }
})

describe('a request to a member cluster', () => {
  it('has the attributes of its path in that cluster, and the whole path', () => {
    const path = '/clusters/m/api/v1/namespaces/ns/pods/p/exec'
    expect(parseRequestInfo('POST', path, undefined, 'm')).to.include({
      ...{ cluster: 'm', path, prefix: 'api', verb: 'create', version: 'v1', namespace: 'ns' },
      ...{ resource: 'pods', name: 'p', subresource: 'exec' },
    })
    const version = '/clusters/m/version'
    expect(parseRequestInfo('GET', version, undefined, 'm')).to.include({
      ...{ cluster: 'm', path: version, prefix: 'version', verb: 'get', isResource: false },
    })
    expect(parseRequestInfo('GET', '/api/v1/pods').cluster).to.equal('')
  })
})

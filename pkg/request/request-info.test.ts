import { expect } from 'chai'
import { isWatch, parseRequestInfo, type RequestInfo } from './request-info.ts'

const empty = { group: '', version: '', namespace: '', resource: '', subresource: '', name: '' }

function read(method: string, url: string): RequestInfo {
  const [path = '', query = ''] = url.split('?')
  return parseRequestInfo(method, path, new URLSearchParams(query))
}

describe('parseRequestInfo', () => {
  const core = { prefix: 'api', version: 'v1' }
  const nodes = { prefix: 'apis', group: 'resources.kapis.io', version: 'v1alpha3', resource: 'nodes' }
  const g = '/apis/resources.kapis.io/v1alpha3'
  type Row = readonly [method: string, url: string, expected: Partial<RequestInfo>]

  const resources: readonly Row[] = [
    // Prefixes.
    ['GET', '/api/v1/nodes', { ...core, verb: 'list', resource: 'nodes', parts: ['nodes'] }],
    ['GET', `${g}/nodes`, { ...nodes, verb: 'list', parts: ['nodes'] }],
    [
      'GET',
      '/kapis/resources.kapis.io/v1alpha3/nodes',
      { ...nodes, prefix: 'kapis', verb: 'list', parts: ['nodes'] },
    ],
    [
      'GET',
      '/kapi/resources.kapis.io/v1alpha3/nodes',
      { ...nodes, prefix: 'kapi', verb: 'list', parts: ['nodes'] },
    ],
    ['GET', `${g}/nodes/`, { ...nodes, verb: 'list', parts: ['nodes'] }],

    // Verbs.
    ['HEAD', '/api/v1/nodes', { ...core, verb: 'list', resource: 'nodes', parts: ['nodes'] }],
    ['GET', `${g}/nodes/n1`, { ...nodes, verb: 'get', name: 'n1', parts: ['nodes', 'n1'] }],
    ['HEAD', `${g}/nodes/n1`, { ...nodes, verb: 'get', name: 'n1', parts: ['nodes', 'n1'] }],
    ['POST', `${g}/nodes`, { ...nodes, verb: 'create', parts: ['nodes'] }],
    ['PUT', `${g}/nodes/n1`, { ...nodes, verb: 'update', name: 'n1', parts: ['nodes', 'n1'] }],
    ['PATCH', `${g}/nodes/n1`, { ...nodes, verb: 'patch', name: 'n1', parts: ['nodes', 'n1'] }],
    ['DELETE', `${g}/nodes/n1`, { ...nodes, verb: 'delete', name: 'n1', parts: ['nodes', 'n1'] }],
    ['DELETE', `${g}/nodes`, { ...nodes, verb: 'deletecollection', parts: ['nodes'] }],
    // A method without a verb is granted to nobody but those who hold all of them.
    ['OPTIONS', `${g}/nodes`, { ...nodes, verb: '', parts: ['nodes'] }],
    ['TRACE', `${g}/nodes/n1`, { ...nodes, verb: '', name: 'n1', parts: ['nodes', 'n1'] }],

    // Watches.
    ['GET', `${g}/nodes?watch=true`, { ...nodes, verb: 'watch', parts: ['nodes'] }],
    ['GET', `${g}/nodes?watch=1`, { ...nodes, verb: 'watch', parts: ['nodes'] }],
    ['GET', `${g}/nodes?watch`, { ...nodes, verb: 'watch', parts: ['nodes'] }],
    ['GET', `${g}/nodes?watch=false`, { ...nodes, verb: 'list', parts: ['nodes'] }],
    ['GET', `${g}/nodes?watch=0`, { ...nodes, verb: 'list', parts: ['nodes'] }],
    ['GET', `${g}/nodes/n1?watch=true`, { ...nodes, verb: 'get', name: 'n1', parts: ['nodes', 'n1'] }],
    ['POST', `${g}/nodes?watch=true`, { ...nodes, verb: 'create', parts: ['nodes'] }],
    ['GET', `${g}/watch/nodes`, { ...nodes, verb: 'watch', parts: ['nodes'] }],
    ['GET', `${g}/watch/nodes?watch=false`, { ...nodes, verb: 'watch', parts: ['nodes'] }],
    ['GET', `${g}/watch/nodes/n1`, { ...nodes, verb: 'watch', name: 'n1', parts: ['nodes', 'n1'] }],
    [
      'GET',
      '/api/v1/watch/namespaces/ns/pods/p',
      {
        ...core,
        verb: 'watch',
        namespace: 'ns',
        resource: 'pods',
        name: 'p',
        parts: ['namespaces', 'ns', 'pods', 'p'],
      },
    ],
    [
      'GET',
      '/api/v1/proxy/nodes/n1',
      { ...core, verb: 'proxy', resource: 'nodes', name: 'n1', parts: ['nodes', 'n1'] },
    ],

    // Namespaces.
    ['GET', '/api/v1/namespaces', { ...core, verb: 'list', resource: 'namespaces', parts: ['namespaces'] }],
    [
      'GET',
      '/api/v1/namespaces/ns',
      {
        ...core,
        verb: 'get',
        namespace: 'ns',
        resource: 'namespaces',
        name: 'ns',
        parts: ['namespaces', 'ns'],
      },
    ],
    [
      'PUT',
      '/api/v1/namespaces/ns/status',
      {
        ...core,
        verb: 'update',
        namespace: 'ns',
        resource: 'namespaces',
        name: 'ns',
        subresource: 'status',
        parts: ['namespaces', 'ns', 'status'],
      },
    ],
    [
      'PUT',
      '/api/v1/namespaces/ns/finalize',
      {
        ...core,
        verb: 'update',
        namespace: 'ns',
        resource: 'namespaces',
        name: 'ns',
        subresource: 'finalize',
        parts: ['namespaces', 'ns', 'finalize'],
      },
    ],
    [
      'GET',
      '/api/v1/namespaces/ns/pods',
      { ...core, verb: 'list', namespace: 'ns', resource: 'pods', parts: ['namespaces', 'ns', 'pods'] },
    ],
    [
      'GET',
      '/api/v1/namespaces/ns/pods/p/log',
      {
        ...core,
        verb: 'get',
        namespace: 'ns',
        resource: 'pods',
        name: 'p',
        subresource: 'log',
        parts: ['namespaces', 'ns', 'pods', 'p', 'log'],
      },
    ],
    [
      'POST',
      '/api/v1/namespaces/ns/services/s/proxy/admin/x',
      {
        ...core,
        verb: 'create',
        namespace: 'ns',
        resource: 'services',
        name: 's',
        subresource: 'proxy',
        parts: ['namespaces', 'ns', 'services', 's', 'proxy', 'admin', 'x'],
      },
    ],
    // An object named like a prefix, a resource named like a subresource.
    [
      'GET',
      '/api/v1/nodes/watch',
      { ...core, verb: 'get', resource: 'nodes', name: 'watch', parts: ['nodes', 'watch'] },
    ],
    [
      'GET',
      '/apis/x.io/v1/namespaces/ns/status/s1',
      {
        prefix: 'apis',
        group: 'x.io',
        version: 'v1',
        verb: 'get',
        namespace: 'ns',
        resource: 'status',
        name: 's1',
        parts: ['namespaces', 'ns', 'status', 's1'],
      },
    ],

    // A list pinned to a name is authorized by it.
    [
      'GET',
      `${g}/nodes?fieldSelector=metadata.name%3Dn1`,
      { ...nodes, verb: 'list', name: 'n1', parts: ['nodes'] },
    ],
    [
      'GET',
      `${g}/nodes?fieldSelector=metadata.name==n1&watch=1`,
      { ...nodes, verb: 'watch', name: 'n1', parts: ['nodes'] },
    ],
    [
      'GET',
      `${g}/nodes?fieldSelector=spec.x=y,metadata.name=n1`,
      { ...nodes, verb: 'list', name: 'n1', parts: ['nodes'] },
    ],
    [
      'GET',
      `${g}/watch/nodes?fieldSelector=metadata.name=n1`,
      { ...nodes, verb: 'watch', name: 'n1', parts: ['nodes'] },
    ],
    [
      'DELETE',
      `${g}/nodes?fieldSelector=metadata.name=n1`,
      { ...nodes, verb: 'deletecollection', name: 'n1', parts: ['nodes'] },
    ],
    ['POST', `${g}/nodes?fieldSelector=metadata.name=n1`, { ...nodes, verb: 'create', parts: ['nodes'] }],
    // The path's own name is the one that counts.
    [
      'GET',
      `${g}/nodes/n2?fieldSelector=metadata.name=n1`,
      { ...nodes, verb: 'get', name: 'n2', parts: ['nodes', 'n2'] },
    ],
    // Selectors that let other names through pin nothing.
    ['GET', `${g}/nodes?fieldSelector=metadata.name!=n1`, { ...nodes, verb: 'list', parts: ['nodes'] }],
    ['GET', `${g}/nodes?fieldSelector=metadata.name=`, { ...nodes, verb: 'list', parts: ['nodes'] }],
    ['GET', `${g}/nodes?fieldSelector=xmetadata.name=n1`, { ...nodes, verb: 'list', parts: ['nodes'] }],
    ['GET', `${g}/nodes?fieldSelector=metadata.name=a=b`, { ...nodes, verb: 'list', parts: ['nodes'] }],
    // Of a repeated selector the first counts, as for the list itself.
    [
      'GET',
      `${g}/nodes?fieldSelector=metadata.name=n1&fieldSelector=metadata.name=n2`,
      { ...nodes, verb: 'list', name: 'n1', parts: ['nodes'] },
    ],
  ]
  for (const [method, url, expected] of resources) {
    it(`${method} ${url}`, () => {
      const [path] = url.split('?')
      expect(read(method, url)).to.deep.equal({ isResource: true, path, ...empty, ...expected })
    })
  }

  const others: readonly [method: string, path: string, prefix: string][] = [
    ['GET', '/', ''],
    ['GET', '/api', 'api'],
    ['GET', '/api/v1', 'api'],
    ['GET', '/apis', 'apis'],
    ['GET', '/apis/resources.kapis.io', 'apis'],
    ['GET', '/apis/resources.kapis.io/v1alpha3', 'apis'],
    ['GET', '/apis/resources.kapis.io/v1alpha3/', 'apis'],
    ['GET', '/kapis/resources.kapis.io/v1alpha3', 'kapis'],
    ['GET', '/api/v1/watch', 'api'],
    ['POST', '/apis/g/v/proxy', 'apis'],
    ['GET', '/healthz', 'healthz'],
    ['GET', '/openapi/v3/apis/g/v1', 'openapi'],
    ['POST', '/oauth/token', 'oauth'],
    ['GET', '/metrics', 'metrics'],
    ['GET', '/API/v1/nodes', 'API'],
    ['GET', '/api v1/nodes/x', 'api v1'],
    ['OPTIONS', '/version', 'version'],
  ]
  for (const [method, path, prefix] of others) {
    it(`${method} ${path} is no resource`, () => {
      expect(read(method, path)).to.deep.equal({
        isResource: false,
        path,
        prefix,
        verb: method.toLowerCase(),
        ...empty,
        parts: [],
      })
    })
  }
})

describe('isWatch', () => {
  const table: readonly [string, boolean][] = [
    ['', false],
    ['watch', true],
    ['watch=', true],
    ['watch=true', true],
    ['watch=1', true],
    ['watch=yes', true],
    ['watch=false', false],
    // apimachinery compares without regard to case.
    ['watch=False', false],
    ['watch=FALSE', false],
    ['watch=0', false],
    ['watch=false&watch=true', false],
    ['Watch=true', false],
  ]
  for (const [query, expected] of table) {
    it(`is ${expected} for ?${query}`, () => {
      expect(isWatch(new URLSearchParams(query))).to.equal(expected)
    })
  }
})

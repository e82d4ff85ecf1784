import { expect } from 'chai'
import { thrownFields } from '../apierrors/fixtures.ts'
import { parseTarget } from './target.ts'

describe('parseTarget', () => {
  const valid: readonly [string, { path: string; rawPath?: string; rawQuery?: string }][] = [
    ['/', { path: '/' }],
    ['/api/v1/nodes', { path: '/api/v1/nodes' }],
    ['/api/v1/nodes/', { path: '/api/v1/nodes/' }],
    ['/apis?a=b', { path: '/apis', rawPath: '/apis', rawQuery: 'a=b' }],
    ['/apis?', { path: '/apis', rawPath: '/apis', rawQuery: '' }],
    ['/apis?a=?&b=/../x//y%2f', { path: '/apis', rawPath: '/apis', rawQuery: 'a=?&b=/../x//y%2f' }],
    ['/apis?%zz', { path: '/apis', rawPath: '/apis', rawQuery: '%zz' }],
    ['/n%6fdes', { path: '/nodes', rawPath: '/n%6fdes' }],
    ['/a%20b', { path: '/a b', rawPath: '/a%20b' }],
    ['/z%C3%BCrich', { path: '/zürich', rawPath: '/z%C3%BCrich' }],
    ['/a%3Fb', { path: '/a?b', rawPath: '/a%3Fb' }],
    // Paths are decoded once; a second layer of encoding is literal text.
    ['/a%252fb', { path: '/a%2fb', rawPath: '/a%252fb' }],
    ['/a%252e%252e/b', { path: '/a%2e%2e/b', rawPath: '/a%252e%252e/b' }],
    // Segments with dots that are not relative.
    ['/...', { path: '/...' }],
    ['/.hidden/a..b/c.', { path: '/.hidden/a..b/c.' }],
    [`/${'a'.repeat(4095)}`, { path: `/${'a'.repeat(4095)}` }],
    [`/a?${'q'.repeat(9000)}`, { path: '/a', rawPath: '/a', rawQuery: 'q'.repeat(9000) }],
  ]
  const pod = '/api/v1/namespaces/a/pods/https:p:8443/proxy/'
  const below: readonly [string, string][] = [
    ['api/queues/%2F/q%2fr', 'api/queues///q/r'],
    ['%252F', '%2F'],
    ['/', '/'],
    ['a//b', 'a//b'],
    ['../../../secrets', '../../../secrets'],
    ['%2e%2e/.', '../.'],
    ['a\\b%5C', 'a\\b\\'],
    ['%00', '\0'],
    ['%ff%2F', '%ff%2F'],
    ['x'.repeat(20_000), 'x'.repeat(20_000)],
  ]
  for (const base of [pod, '/api/v1/namespaces/a/services/s/proxy/', '/api/v1/nodes/n/proxy/']) {
    for (const [rest, decoded] of below) {
      it(`forwards ${JSON.stringify(rest.slice(0, 60))} below ${base}`, () =>
        expect(parseTarget(`${base}${rest}?a=%2F`)).to.deep.equal({
          path: base + decoded,
          rawPath: base + rest,
          rawQuery: 'a=%2F',
          cluster: '',
        }))
    }
  }

  const absolute: readonly [string, string, string][] = [
    ['http://example.org/api?a=b', '/api', 'a=b'],
    ['HTTPS://example.org:6443/api', '/api', ''],
    ['https://[::1]:6443/', '/', ''],
    ['https://example.org', '/', ''],
    ['https://example.org?a=/b', '/', 'a=/b'],
  ]
  for (const [url, path, rawQuery] of absolute) {
    it(`reads ${url}`, () => {
      expect(parseTarget(url)).to.deep.equal({ path, rawPath: path, rawQuery, cluster: '' })
    })
  }

  for (const [url, expected] of valid) {
    it(`reads ${url.slice(0, 60)}`, () => {
      expect(parseTarget(url)).to.deep.equal({
        rawPath: expected.path,
        rawQuery: '',
        cluster: '',
        ...expected,
      })
    })
  }

  const notAbsolute = 'the request target must be an absolute path'
  const emptySegment = 'the path contains an empty segment ("//")'
  const relative = 'the path contains a relative segment ("." or "..")'
  const encodedSlash = 'the path contains an encoded slash or backslash'
  const badEncoding = 'the path contains an invalid percent-encoding'
  const control = 'the path contains an encoded control character'
  const invalid: readonly [string, string][] = [
    ['', notAbsolute],
    ['*', notAbsolute],
    ['?a=b', notAbsolute],
    ['api/v1', notAbsolute],
    ['http:///api', notAbsolute],
    ['ftp://example.org/api', notAbsolute],
    ['http://example.org//api', emptySegment],
    ['http://example.org/a/../b', relative],
    ['https://user@host/healthz', notAbsolute],
    ['//', emptySegment],
    ['//example.org/api', emptySegment],
    ['/api//v1', emptySegment],
    ['/api/v1//', emptySegment],
    ['/./healthz', relative],
    ['/.', relative],
    ['/..', relative],
    ['/healthz/../api/v1/secrets', relative],
    ['/healthz/..', relative],
    ['/healthz/%2e%2e/api/v1/secrets', relative],
    ['/healthz/%2E./api', relative],
    ['/healthz/.%2e/api', relative],
    ['/%2e', relative],
    ['/%2e%2e', relative],
    ['/api%2fv1', encodedSlash],
    ['/api%2Fv1', encodedSlash],
    ['/api%5cv1', encodedSlash],
    ['/api%5Cv1', encodedSlash],
    ['/healthz%2f..%2fapi', encodedSlash],
    ['/%2f%2f', encodedSlash],
    ['/%2fexample.org/..', encodedSlash],
    ['/api\\v1', 'the path contains a backslash'],
    ['/api%61\\v1', 'the path contains a backslash'],
    ['/a%00', control],
    ['/a%00.json', control],
    ['/a%0d%0aSet-Cookie:x', control],
    ['/a%1f', control],
    ['/a%7f', control],
    ['/a%', badEncoding],
    ['/a%z', badEncoding],
    ['/a%zz', badEncoding],
    ['/a%2', badEncoding],
    ['/%c0%af', badEncoding],
    ['/%c0%ae%c0%ae/api', badEncoding],
    ['/%ff', badEncoding],
    ['/%ed%a0%80', badEncoding],
    [`${pod}%`, badEncoding],
    [`${pod}%zz`, badEncoding],
    // Not certainly below a proxy subresource, so the strict rules apply.
    ['/api/v1/namespaces/a/pods/p/proxy/../x'.replace('proxy/', 'proxy%2F'), encodedSlash],
    ['/api/v1/namespaces/a/pods/p/pr%6fxy/..', relative],
    ['/api/v1/namespaces/a/pods/../proxy/x', relative],
    ['/api/v1/namespaces/../pods/p/proxy/x', relative],
    ['/api/v1/namespaces/%2e%2e/pods/p/proxy/x', relative],
    ['/api/v1/namespaces/a%2Fb/pods/p/proxy/x', encodedSlash],
    ['/api/v1/namespaces/a/pods/p%2Fx/proxy/x', encodedSlash],
    ['/api/v1/namespaces/a/pods/p%00/proxy/x', control],
    ['/api/v1/namespaces/a/pods//proxy//', emptySegment],
    ['//api/v1/nodes/n/proxy/x', emptySegment],
    ['/api//v1/nodes/n/proxy//x', emptySegment],
    ['/x/../api/v1/nodes/n/proxy/x', relative],
    ['/api/v1/namespaces/a/pods/p/exec/../x', relative],
    ['/api/v1/namespaces/a/secrets/p/proxy/../x', relative],
    ['/api/v1/proxy/nodes/n/../x', relative],
    ['/api/v1/watch/namespaces/a/pods/p/proxy/../x', relative],
    ['/apis/v1/namespaces/a/pods/p/proxy/../x', relative],
    ['/kapi/v1/namespaces/a/pods/p/proxy/../x', relative],
    ['/kapis/g/v1/namespaces/a/pods/p/proxy/../x', relative],
    [`/api/v1/nodes/${'a'.repeat(4096)}/proxy/x`, 'the path is longer than 4096 bytes'],
    [`/${'a'.repeat(4096)}`, 'the path is longer than 4096 bytes'],
    [`/${'%61'.repeat(2000)}`, 'the path is longer than 4096 bytes'],
  ]
  for (const [url, message] of invalid) {
    it(`rejects ${JSON.stringify(url.slice(0, 60))}`, () => {
      expect(thrownFields(() => parseTarget(url))).to.deep.equal({ code: 400, reason: 'BadRequest', message })
    })
  }
})

describe('a path in a cluster', () => {
  const here: readonly (readonly [target: string, rawPath: string, rawQuery?: string])[] = [
    [
      '/kapis/clusters/host/iam.kapis.io/v1alpha2/users?limit=1',
      '/kapis/iam.kapis.io/v1alpha2/users',
      'limit=1',
    ],
    ['/api/clusters/host/v1/pods', '/api/v1/pods'],
    ['/apis/clusters/host/apps/v1/deployments', '/apis/apps/v1/deployments'],
    ['/clusters/host/kapis/iam.kapis.io/v1alpha2/users', '/kapis/iam.kapis.io/v1alpha2/users'],
    ['/clusters/host/api?x', '/api', 'x'],
    ['/clusters/host/openapi/v3/apis/apps/v1', '/openapi/v3/apis/apps/v1'],
    ['/clusters/host/version?timeout=32s', '/version', 'timeout=32s'],
    ['/kapis/clusters/host', '/kapis'],
    // Only the first cluster segment is removed.
    ['/kapis/clusters/host/clusters/other/v1', '/kapis/clusters/other/v1'],
    // The path is not that of an API, or the segment only begins with the same text.
    ['/clusters/host/oauth/token', '/clusters/host/oauth/token'],
    ['/clusters/host/versions', '/clusters/host/versions'],
    ['/clusters/host/clusters/host/api', '/clusters/host/clusters/host/api'],
    ['/clusters/other', '/clusters/other'],
    ['/kapis/clusters', '/kapis/clusters'],
    ['/kapis/%63lusters/host/v1', '/kapis/%63lusters/host/v1'],
    ['/kapis/x/v1/clusters/host', '/kapis/x/v1/clusters/host'],
  ]
  for (const [target, rawPath, rawQuery = ''] of here)
    it(`${target} becomes ${rawPath}`, () => expect(parseTarget(target)).to.include({ rawPath, rawQuery }))

  for (const target of ['/kapis/clusters/other/v1/x', '/clusters/%68ost/api/v1', '/api/clusters/HOST?x'])
    it(`${target} causes 404`, () => {
      const error = thrownFields(() => parseTarget(target))
      expect(error).to.include({ code: 404, reason: 'NotFound' })
      expect(error)
        .to.have.property('message')
        .that.matches(/^unknown cluster "[^"]+"; supported: host \(multicluster\.enabled is false\)$/)
    })

  it('is validated like any other path', () => {
    expect(() => parseTarget('/api/clusters/host/v1/../x')).to.throw('relative segment')
    expect(() => parseTarget('/api/clusters/host//v1')).to.throw('empty segment')
  })

  const there: readonly (readonly [target: string, path: string, rawPath: string])[] = [
    ['/kapis/clusters/m-1/g/v1/x%20y?a=b', '/clusters/m-1/kapis/g/v1/x y', '/kapis/g/v1/x%20y'],
    ['/clusters/m-1/apis/apps/v1?a=b', '/clusters/m-1/apis/apps/v1', '/apis/apps/v1'],
    ['/clusters/m-1/version?a=b', '/clusters/m-1/version', '/version'],
    [
      '/api/clusters/m-1/v1/nodes/n/proxy/..%2f?a=b',
      '/clusters/m-1/api/v1/nodes/n/proxy/../',
      '/api/v1/nodes/n/proxy/..%2f',
    ],
  ]
  for (const [target, path, rawPath] of there)
    it(`${target} addresses a member cluster if multicluster is enabled`, () =>
      expect(parseTarget(target, 'all')).to.deep.equal({ path, rawPath, rawQuery: 'a=b', cluster: 'm-1' }))

  for (const target of ['/clusters/host/api/v1', '/clusters/a', '/clusters/a/oauth/token', '/kapis/x'])
    it(`${target} addresses the host cluster if multicluster is enabled`, () =>
      expect(parseTarget(target, 'all')).to.deep.equal(parseTarget(target)))

  const refused: readonly (readonly [target: string, code: number, message: string])[] = [
    ['/clusters/A/api', 404, 'unknown cluster "A"; supported: names of Clusters, which are DNS labels'],
    ['/clusters/%61/api', 404, 'unknown cluster "%61"; supported: names of Clusters, which are DNS labels'],
    ['/clusters/a/kapis/clusters/b/g/v1/x', 400, 'a path in a cluster must not name another cluster'],
    ['/api/clusters/a/clusters/host/v1/x', 400, 'a path in a cluster must not name another cluster'],
    ['/clusters/a/api//v1', 400, 'the path contains an empty segment ("//")'],
    ['/clusters/a/api/v1/../../kapis', 400, 'the path contains a relative segment ("." or "..")'],
  ]
  for (const [target, code, message] of refused)
    it(`${target} causes ${code} if multicluster is enabled`, () =>
      expect(thrownFields(() => parseTarget(target, 'all'))).to.include({ code, message }))
})

import { expect } from 'chai'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { parseRequestInfo } from '../../apirequest/request-info.ts'
import { createRouteNames, toPathAttribute, toRoute } from './route.ts'

const infoOf = (url: string) => {
  const [path = '', query = ''] = url.split('?')
  return parseRequestInfo('GET', path, new QueryParameters(query))
}

describe('toRoute', () => {
  const routes: readonly (readonly [path: string, route: string])[] = [
    ['/api/v1/nodes', '/api/v1/nodes'],
    ['/api/v1/namespaces', '/api/v1/namespaces'],
    ['/api/v1/namespaces/shop', '/api/v1/namespaces/{name}'],
    ['/api/v1/namespaces/shop/pods/web-0/log', '/api/v1/namespaces/{namespace}/pods/{name}/log'],
    ['/apis/resources.kapis.io/v1alpha3/nodes/a', '/apis/resources.kapis.io/v1alpha3/nodes/{name}'],
    ['/kapis/iam.kapis.io/v1beta1/users/jane', '/kapis/iam.kapis.io/v1beta1/users/{name}'],
    ['/kapi/v1/pods', '/kapi/v1/pods'],
    ['/kapi/v1/pods?fieldSelector=metadata.name%3Da', '/kapi/v1/pods'],
    ['/kapi/v1/namespaces/a/namespaces/b', '/kapi/v1/namespaces/{namespace}/namespaces/{name}'],
    ['/oauth/token', '/oauth/token'],
    ['/oauth/personal-access-tokens/s3cret', '/oauth/personal-access-tokens/{name}'],
    ['/openapi/v3/apis/apps/v1', '/openapi/{path}'],
    ['/version', '/version'],
    ['/', '/'],
  ]
  for (const [path, route] of routes)
    it(`returns ${route} for ${path}`, () => expect(toRoute(infoOf(path))).to.equal(route))
})

describe('createRouteNames', () => {
  it('returns a route after its first successful response, also for failures', () => {
    const nameOf = createRouteNames()
    expect(nameOf('/api/v1/nodes', 403)).to.equal(undefined)
    expect(nameOf('/api/v1/nodes', 200)).to.equal('/api/v1/nodes')
    expect(nameOf('/api/v1/nodes', 503)).to.equal('/api/v1/nodes')
    expect(nameOf('/api/v1/nodes', undefined)).to.equal('/api/v1/nodes')
  })

  it('does not grow with paths that a caller invents', () => {
    const nameOf = createRouteNames()
    for (let i = 0; i < 5_000; i++) expect(nameOf(`/api/v1/invented-${i}`, 404)).to.equal(undefined)
    for (let i = 0; i < 5_000; i++) nameOf(`/api/v1/there-${i}`, 200)
    expect(nameOf('/api/v1/there-999', 200)).to.equal('/api/v1/there-999')
    expect(nameOf('/api/v1/there-1000', 200)).to.equal(undefined)
  })
})

describe('toPathAttribute', () => {
  const paths: readonly (readonly [path: string, attribute: string])[] = [
    ['/api/v1/nodes/a', '/api/v1/nodes/a'],
    ['/api/v1/namespaces/n/services/s/proxy/reset/s3cret', '/api/v1/namespaces/n/services/s/proxy'],
    ['/api/v1/proxy/namespaces/n/services/s/s3cret', '/api/v1/proxy'],
  ]
  for (const [path, attribute] of paths)
    it(`returns ${attribute} for ${path}`, () => expect(toPathAttribute(infoOf(path))).to.equal(attribute))
})

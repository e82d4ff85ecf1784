import { expect } from 'chai'
import { type AccessAttributes, parseRules, ruleAllows, toPolicyRule } from './rule.ts'

const get = (
  target: string,
  more: { readonly name?: string; readonly group?: string } = {},
): AccessAttributes => {
  const [resource = '', subresource = ''] = target.split('/')
  return {
    isResource: true,
    verb: 'get',
    group: '',
    name: '',
    namespace: 'shop',
    ...more,
    resource,
    subresource,
  }
}
const path = (url: string): AccessAttributes => ({ isResource: false, verb: 'get', path: url })
const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }

// Test cases of pkg/apis/rbac/v1/evaluation_helpers.go in k8s.io/kubernetes.
const cases: readonly [what: string, rule: object, attributes: AccessAttributes, isAllowed: boolean][] = [
  ['the resource', pods, get('pods'), true],
  ['another resource', pods, get('secrets'), false],
  ['another verb', { ...pods, verbs: ['list'] }, get('pods'), false],
  ['any verb', { ...pods, verbs: ['*'] }, get('pods'), true],
  ['another group', { ...pods, apiGroups: ['apps'] }, get('pods'), false],
  ['any group', { ...pods, apiGroups: ['*'] }, get('pods', { group: 'metrics.k8s.io' }), true],
  ['no group', { ...pods, apiGroups: undefined }, get('pods'), false],
  ['any resource', { ...pods, resources: ['*'] }, get('pods'), true],
  ['any resource, for a subresource', { ...pods, resources: ['*'] }, get('pods/log'), true],
  ['the resource, for its subresource', pods, get('pods/log'), false],
  ['the subresource', { ...pods, resources: ['pods/log'] }, get('pods/log'), true],
  ['the subresource, for its resource', { ...pods, resources: ['pods/log'] }, get('pods'), false],
  ['a subresource of any resource', { ...pods, resources: ['*/scale'] }, get('deployments/scale'), true],
  [
    'another subresource of any resource',
    { ...pods, resources: ['*/scale'] },
    get('deployments/status'),
    false,
  ],
  [
    'all subresources of a resource, which is not a pattern',
    { ...pods, resources: ['pods/*'] },
    get('pods/log'),
    false,
  ],
  ['the name', { ...pods, resourceNames: ['a', 'b'] }, get('pods', { name: 'b' }), true],
  ['another name', { ...pods, resourceNames: ['a'] }, get('pods', { name: 'b' }), false],
  ['a name, for a request without a name', { ...pods, resourceNames: ['a'] }, get('pods'), false],
  ['the name "*", which is literal', { ...pods, resourceNames: ['*'] }, get('pods', { name: 'b' }), false],
  ['no names, for a request with a name', { ...pods, resourceNames: [] }, get('pods', { name: 'b' }), true],
  ['a resource, for a path', { ...pods, resources: ['*'] }, path('/healthz'), false],
  ['the path', { nonResourceURLs: ['/healthz'], verbs: ['get'] }, path('/healthz'), true],
  [
    'the path, for one below it',
    { nonResourceURLs: ['/healthz'], verbs: ['get'] },
    path('/healthz/etcd'),
    false,
  ],
  ['a path prefix', { nonResourceURLs: ['/healthz/*'], verbs: ['get'] }, path('/healthz/etcd'), true],
  [
    'a path prefix, for the path itself',
    { nonResourceURLs: ['/healthz/*'], verbs: ['get'] },
    path('/healthz'),
    false,
  ],
  ['a star in the middle of a path', { nonResourceURLs: ['/a/*/c'], verbs: ['get'] }, path('/a/b/c'), false],
  ['all paths', { nonResourceURLs: ['*'], verbs: ['*'] }, path('/metrics'), true],
  ['all paths, for a resource', { nonResourceURLs: ['*'], verbs: ['*'] }, get('pods'), false],
]

describe('ruleAllows', () => {
  for (const [what, rule, attributes, isAllowed] of cases) {
    it(`${isAllowed ? 'allows' : 'denies'} with ${what}`, () => {
      expect(parseRules([rule]).map(parsed => ruleAllows(parsed, attributes))).to.deep.equal([isAllowed])
    })
  }

  it('treats an invalid rule as none', () => {
    expect(parseRules(undefined)).to.deep.equal([])
    expect(parseRules([null, 'x', 1])).to.deep.equal([])
    expect(parseRules([{ verbs: 'get' }]).map(toPolicyRule)).to.deep.equal([{}])
  })
})

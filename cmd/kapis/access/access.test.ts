import { expect } from 'chai'
import { UsageError } from '../command.ts'
import type { Platform } from '../session/platform-client.ts'
import { reasonsOf } from './can-i.ts'
import { ruleText } from './create-review.ts'
import { readAttributes, readPositionals } from './resource-argument.ts'

const resource = (name: string, singular: string, kind: string, shortNames: readonly string[] = []) => ({
  resource: name,
  singularResource: singular,
  responseKind: { kind },
  shortNames,
})
const documents: Readonly<Record<string, object>> = {
  '/api': { items: [{ metadata: {}, versions: [{ resources: [resource('pods', 'pod', 'Pod', ['po'])] }] }] },
  '/apis': {
    items: [
      {
        metadata: { name: 'apps' },
        versions: [
          { version: 'v1', resources: [resource('deployments', 'deployment', 'Deployment', ['deploy'])] },
        ],
      },
      {
        metadata: { name: 'iam.kapis.io' },
        versions: [
          { version: 'v1alpha2', resources: [{ ...resource('users', 'user', 'User'), scope: 'Cluster' }] },
        ],
      },
    ],
  },
}
const platform: Platform = {
  url: '',
  text: async (_what, path) => JSON.stringify(documents[path]),
  call: async (_what, path) => Object(documents[path]),
  groupDomain: async () => 'kapis.io',
  show: (_response, print) => print(),
}

describe('arguments of who-can and can-i', () => {
  const read = async (...positionals: readonly string[]) => {
    const warnings: string[] = []
    const given = { positionals, namespace: 'shop', subresource: '', 'all-namespaces': false }
    const attributes = await readAttributes(platform, given, text => warnings.push(text))
    return { attributes, warnings }
  }

  const found: readonly (readonly [args: readonly string[], attributes: object])[] = [
    [['get', 'pods'], { verb: 'get', resource: 'pods', namespace: 'shop' }],
    [['get', 'po', 'web-0'], { verb: 'get', resource: 'pods', name: 'web-0', namespace: 'shop' }],
    [['get', 'Pod/web-0'], { verb: 'get', resource: 'pods', name: 'web-0', namespace: 'shop' }],
    [['list', 'deploy'], { verb: 'list', group: 'apps', resource: 'deployments', namespace: 'shop' }],
    ...['deploy.apps', 'Deployment.apps', 'deployments.v1.apps', 'deployments.V1.Apps'].map(
      text =>
        [
          ['list', text],
          { verb: 'list', group: 'apps', resource: 'deployments', namespace: 'shop' },
        ] as const,
    ),
    [['*', '*'], { verb: '*', resource: '*', namespace: 'shop' }],
    [['get', '*.apps'], { verb: 'get', group: 'apps', resource: '*', namespace: 'shop' }],
    ...(['users', 'groups', 'serviceaccounts'] as const).map(
      text => [['impersonate', text], { verb: 'impersonate', resource: text, namespace: 'shop' }] as const,
    ),
    [
      ['impersonate', 'uids'],
      { verb: 'impersonate', group: 'authentication.k8s.io', resource: 'uids', namespace: 'shop' },
    ],
  ]
  for (const [positionals, resourceAttributes] of found) {
    it(`accept ${positionals.join(' ')}`, async () => {
      expect(await read(...positionals)).to.deep.equal({ attributes: { resourceAttributes }, warnings: [] })
    })
  }

  it('accept a path', async () => {
    const given = {
      positionals: ['get', '/metrics'],
      namespace: '',
      subresource: '',
      'all-namespaces': false,
    }
    const nonResourceAttributes = { verb: 'get', path: '/metrics' }
    expect(await readAttributes(platform, given, () => {})).to.deep.equal({ nonResourceAttributes })
  })

  const warned: readonly (readonly [args: readonly string[], resource: string, warning: string])[] = [
    [['get', 'frobs'], 'frobs', 'the server does not have a resource type "frobs"'],
    [['get', 'things.example.io'], 'things', 'the server does not have a resource type "things.example.io"'],
    [['get', 'pods.apps'], 'pods', 'the server does not have a resource type "pods.apps"'],
    [
      ['get', 'deployments.v2.apps'],
      'deployments',
      'the server does not have a resource type "deployments.v2.apps"',
    ],
    [['get', 'users'], 'users', 'the resource "users" is not namespaced'],
    [['GET', 'pods'], 'pods', 'the verb "GET" is not known; verbs are case-sensitive'],
    [['post', 'pods'], 'pods', 'the verb "post" is not known; verbs are case-sensitive'],
  ]
  for (const [args, name, warning] of warned)
    it(`cause a warning: ${args.join(' ')}`, async () => {
      const { attributes, warnings } = await read(...args)
      expect(warnings).to.deep.equal([`Warning: ${warning}\n`])
      expect(attributes).to.have.nested.property('resourceAttributes.resource', name)
    })

  it('reject a namespace or subresource of a path', async () => {
    const given = { positionals: ['get', '/metrics'], 'all-namespaces': false }
    for (const more of [
      { namespace: 'shop', subresource: '' },
      { namespace: '', subresource: 'log' },
    ]) {
      const error = await readAttributes(platform, { ...given, ...more }, () => {}).catch(Object)
      expect(error.message).to.equal('a path takes no --subresource and no --namespace')
    }
  })

  it('are for all namespaces, or for one', async () => {
    const given = { positionals: ['get', 'po'], subresource: '', 'all-namespaces': true }
    const all = await readAttributes(platform, { ...given, namespace: '' }, () => {})
    expect(all).to.deep.equal({ resourceAttributes: { verb: 'get', resource: 'pods' } })
    const error = await readAttributes(platform, { ...given, namespace: 'shop' }, () => {}).catch(Object)
    expect(error).to.be.instanceOf(UsageError)
    expect(error.message).to.equal('--namespace and --all-namespaces are mutually exclusive')
  })

  for (const wrong of [[], ['get'], ['get', 'pods', 'a', 'b'], ['get', 'pods/a', 'b'], ['get', '/a', 'b']]) {
    it(`reject ${JSON.stringify(wrong)}`, () => {
      expect(() => readPositionals(wrong)).to.throw(UsageError)
    })
  }
})

describe('reasonsOf', () => {
  const binding = { kind: 'RoleBinding', namespace: 'shop', name: 'dev' }
  const role = { kind: 'ClusterRole', name: 'view' }

  it('names the bindings and rules that allow a request', () => {
    const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
    expect(reasonsOf({ grants: [{ binding, role, rule }] })).to.deep.equal([
      '  RoleBinding/shop/dev gives ClusterRole/view: get pods',
    ])
  })

  it('names the rule that is missing', () => {
    const status = {
      nearest: [{ binding, role, missing: ['the verbs are get, not delete'] }],
      missingRule: {
        verbs: ['delete'],
        apiGroups: ['apps'],
        resources: ['deployments'],
        resourceNames: ['a'],
      },
      rolesThatAllow: [{ kind: 'ClusterRole', name: 'edit' }],
    }
    expect(reasonsOf(status)).to.deep.equal([
      '  RoleBinding/shop/dev gives ClusterRole/view, but the verbs are get, not delete',
      '  missing rule: delete deployments in apps named a',
      '  roles that would allow it: ClusterRole/edit',
    ])
    expect(ruleText({ verbs: ['get'], nonResourceURLs: ['/metrics'] })).to.equal('get /metrics')
  })
})

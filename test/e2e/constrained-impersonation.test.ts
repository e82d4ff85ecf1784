import { expect } from 'chai'
import { kubectlOutput, makeNamespace, nodeNames, sendToKube, tokenOf, uniqueName } from './cluster.ts'
import { apply, sendAs } from './http.ts'

const namespace = uniqueName('deputy')
const authentication = 'authentication.k8s.io'
const reviews = `/apis/${authentication}/v1/selfsubjectreviews`
const modes = ['user-info', 'serviceaccount', 'arbitrary-node', 'associated-node']

type Headers = Readonly<Record<string, string>>

/**
 * KEP-5284, compared with kube-apiserver in the same run. A version without it grants no
 * permissions by these verbs.
 */
describe('constrained impersonation', function () {
  this.timeout(60_000)
  const tokens: Record<string, string> = {}

  before(async () => {
    const [node = ''] = await nodeNames()
    await makeNamespace(namespace, ['deputy', 'masked', 'legacy'])
    const part = (mode: string, resource: string, ...resourceNames: string[]) => ({
      ...{
        apiGroups: [authentication],
        resources: [resource],
        verbs: [`impersonate:${mode}`],
        resourceNames,
      },
    })
    const rules = [
      {
        apiGroups: [authentication],
        resources: ['selfsubjectreviews'],
        verbs: modes.map(mode => `impersonate-on:${mode}:create`),
      },
      { nonResourceURLs: ['/version'], verbs: ['impersonate-on:user-info:get'] },
      part('user-info', 'users', 'bob', 'system:anonymous'),
      part('user-info', 'groups', 'devs', 'ops'),
      part('user-info', 'uids', 'u-1'),
      part('user-info', 'userextras/acme.io/foo', 'x'),
      part('serviceaccount', 'serviceaccounts', 'masked'),
      part('arbitrary-node', 'nodes', 'worker-9'),
      part('associated-node', 'nodes', '*'),
    ]
    const legacy = [
      {
        apiGroups: [''],
        resources: ['users'],
        verbs: ['impersonate'],
        resourceNames: ['bob', 'system:node:worker-9'],
      },
      {
        ...{ apiGroups: [authentication], resources: ['userextras/scopes'], verbs: ['impersonate'] },
        resourceNames: ['view'],
      },
    ]
    for (const [name, given] of Object.entries({ deputy: rules, legacy })) {
      const metadata = { name: `${namespace}-${name}` }
      const kind = 'ClusterRole'
      await apply({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata, rules: given })
      const bound = [`--clusterrole=${metadata.name}`, `--serviceaccount=${namespace}:${name}`]
      await kubectlOutput('create', 'clusterrolebinding', metadata.name, ...bound)
      tokens[name] = await tokenOf(namespace, name)
    }
    const bound = ['--bound-object-kind=Node', `--bound-object-name=${node}`]
    tokens.onNode = (await kubectlOutput('-n', namespace, 'create', 'token', 'deputy', ...bound)).trim()
    tokens.node = node
  })
  after(async () => {
    const names = ['deputy', 'legacy'].map(name => `${namespace}-${name}`)
    const roles = names.flatMap(name => [`clusterrole/${name}`, `clusterrolebinding/${name}`])
    await kubectlOutput('delete', ...roles, `namespace/${namespace}`, '--wait=false')
  })

  const bob = { 'impersonate-user': 'bob' }
  const account = { 'impersonate-user': `system:serviceaccount:${namespace}:masked` }
  const node = { 'impersonate-user': 'system:node:worker-9' }
  const rows: readonly (readonly [what: string, headers: Headers, who?: string])[] = [
    ['a user', bob],
    ['a user and a group', { ...bob, 'impersonate-group': 'devs' }],
    ['another user', { 'impersonate-user': 'carol' }],
    ['another group', { ...bob, 'impersonate-group': 'others' }],
    ['system:masters', { ...bob, 'impersonate-group': 'system:masters' }],
    ['a uid', { ...bob, 'impersonate-uid': 'u-1' }],
    ['another UID', { ...bob, 'impersonate-uid': 'u-2' }],
    ['an extra field', { ...bob, 'impersonate-extra-Acme.io%2fF%6Fo': 'x' }],
    ['an extra field with upper-case letters', { ...bob, 'impersonate-extra-acme.io%2f%46oo': 'x' }],
    ['another value', { ...bob, 'impersonate-extra-acme.io%2ffoo': 'y' }],
    ['an extra field without a domain', { ...bob, 'impersonate-extra-scopes': 'x' }],
    ['the anonymous user', { 'impersonate-user': 'system:anonymous' }],
    ['a service account', account],
    ['a service account and a group', { ...account, 'impersonate-group': 'devs' }],
    ['another service account', { 'impersonate-user': `system:serviceaccount:${namespace}:deputy` }],
    ['a node', node],
    ['a node and a group', { ...node, 'impersonate-group': 'devs' }],
    ['another node', { 'impersonate-user': 'system:node:worker-8' }],
    ['a name that is not a node name', { 'impersonate-user': 'system:node:' }],
    ['the associated node of the caller', { 'impersonate-user': 'its own' }, 'onNode'],
    ['another node than the associated one', { 'impersonate-user': 'system:node:worker-8' }, 'onNode'],
    ['a user, with the older permission', bob, 'legacy'],
    ['a node, with the older permission', node, 'legacy'],
    ['another user, with the older permission', { 'impersonate-user': 'carol' }, 'legacy'],
    ['an extra field, with the older permission', { ...bob, 'impersonate-extra-scopes': 'view' }, 'legacy'],
  ]
  const body = JSON.stringify({ apiVersion: `${authentication}/v1`, kind: 'SelfSubjectReview' })
  for (const [what, given, who = 'deputy'] of rows) {
    it(`allows the same as kube-apiserver: ${what}`, async () => {
      const user = given['impersonate-user']
      const headers = {
        ...given,
        'content-type': 'application/json',
        'impersonate-user': user === 'its own' ? `system:node:${tokens.node}` : (user ?? ''),
      }
      const token = tokens[who] ?? ''
      const request = { method: 'POST', headers, body }
      const [here, there] = [await sendAs(token, reviews, request), await sendToKube(token, reviews, request)]
      const shown = ({ code, body: text }: typeof here) => {
        const { status, message } = JSON.parse(text)
        // The message is ignored: its mode for a caller with the verb impersonate depends on
        // earlier requests.
        return [code, code === 201 ? status.userInfo : who === 'legacy' || message]
      }
      expect(shown(here)).to.deep.equal(shown(there))
    })
  }

  it('is limited to the names in the permission', async () => {
    for (const path of ['/version', '/api/v1/nodes', `/api/v1/namespaces/${namespace}/pods/x`]) {
      const headers = { ...bob }
      const here = await sendAs(tokens.deputy ?? '', path, { headers })
      const there = await sendToKube(tokens.deputy ?? '', path, { headers })
      expect([here.code, JSON.parse(here.body).message], path).to.deep.equal([
        there.code,
        JSON.parse(there.body).message,
      ])
    }
    // The same applies to APIs of Kapis itself.
    const { code } = await sendAs(tokens.deputy ?? '', '/kapi/v1/nodes', { headers: bob })
    expect(code).to.equal(403)
  })
})

import { expect } from 'chai'
import { type Accounts, createAccounts, type Rule } from './account.ts'
import {
  accessToken,
  group,
  kubectl,
  kubectlOutput,
  makeNamespace,
  sendToKube,
  tokenOf,
  uniqueName,
  version,
} from './cluster.ts'
import { apply, eventually, groupDomain, sendAs } from './http.ts'
import { setting } from './run.ts'

const base = `/kapis/${group}/${version}`
const reading = ['get', 'list', 'watch']
const keys = `namespaces/${setting('KAPIS_NAMESPACE')}/secrets`
// Without the change of the binding, a decision is cached for ten seconds.
const withinMs = 3_000
const iam = `/apis/iam.${groupDomain}/v1alpha2`

/**
 * Kinds of other groups under resources.<group domain>: a read requires the permission on the kind
 * itself.
 */
describe('permissions in the platform API', function () {
  this.timeout(60_000)
  let accounts: Accounts

  before(async () => {
    accounts = await createAccounts('platform-permissions')
  })
  after(() => accounts.remove())

  it('on everything that the API declares include no Secret or other native kind', async () => {
    const everything: Rule = { apiGroups: [group], resources: ['*'], verbs: ['*'] }
    const token = await accounts.make('everything', [everything])
    for (const declared of [
      'nodes',
      'namespaces',
      'pods',
      'persistentvolumeclaims',
      'deployments',
      'workspaces',
    ])
      expect(await sendAs(token, `${base}/${declared}`), declared).to.include({ code: 200 })
    const others = ['secrets', keys, `${keys}/kapis-signing-keys`, `${keys}/kapis-initial-admin`]
    others.push('configmaps', 'serviceaccounts', 'services', 'clusterroles', 'namespaces/default/roles')
    others.push('users', 'users/admin', 'loginsessions', 'loginrecords', 'deviceauthorizations')
    for (const at of others) {
      for (const query of ['', '?watch=true&timeoutSeconds=1', '?q=a&fields=metadata.name&sortBy=name']) {
        const response = await sendAs(token, `${base}/${at}${query}`)
        expect(response.code, `${at}${query} ${response.body}`).to.equal(403)
        expect(JSON.parse(response.body).message).to.not.include(`in API group "${group}"`)
      }
      const short = await sendAs(token, `/kapi/${group}/${version}/${at}`)
      expect(short.code, at).to.equal(403)
    }
  })

  it('are denied with the message of the native kind', async () => {
    const token = await accounts.make('nothing', [])
    const who = `User "system:serviceaccount:${accounts.namespace}:nothing"`
    const what = 'in API group "" in the namespace "default"'
    const response = await sendAs(token, `${base}/namespaces/default/secrets/x`)
    expect(JSON.parse(response.body)).to.include({
      code: 403,
      message: `secrets "x" is forbidden: ${who} cannot get resource "secrets" ${what}`,
    })
  })

  it('on names apply to those names only', async () => {
    const mine: Rule = { apiGroups: [''], resources: ['secrets'], verbs: reading, resourceNames: ['mine'] }
    const token = await accounts.make('named', [mine])
    const data = { mine: 'mine', other: 'other' }
    for (const name of Object.keys(data))
      await kubectlOutput(
        '-n',
        accounts.namespace,
        'create',
        'secret',
        'generic',
        name,
        `--from-literal=k=${name}`,
      )
    const at = `${base}/namespaces/${accounts.namespace}/secrets`
    expect(await sendAs(token, `${at}/mine`)).to.include({ code: 200 })
    for (const path of [at, `${at}/other`, `${base}/secrets`])
      expect(await sendAs(token, path), path).to.include({ code: 403 })
  })

  it('on names apply to field selectors in all versions of the extension API', async () => {
    const nodes: Rule = {
      apiGroups: [group],
      resources: ['nodes'],
      verbs: reading,
      resourceNames: ['node-1'],
    }
    const token = await accounts.make('selecting', [nodes])
    const codes = [
      ['v1alpha3/nodes?fieldSelector=metadata.name=node-1', 200],
      ['v1alpha3/nodes?fieldSelector=metadata.name=node-2', 403],
      ['v9/nodes?fieldSelector=metadata.name=node-1', 404],
      ['v1alpha2/nodes?fieldSelector=metadata.name=node-1', 404],
      ['v9/nodes?fieldSelector=metadata.name=node-2', 403],
    ] as const
    for (const [path, code] of codes)
      expect(await sendAs(token, `/apis/${group}/${path}`), path).to.include({ code })
  })

  for (const role of ['view', 'edit', 'admin'])
    it(`of a subject bound to ${role} in a namespace are those in kube-apiserver`, async () => {
      const { namespace } = accounts
      await kubectlOutput('-n', namespace, 'create', 'serviceaccount', role)
      await apply({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: role, namespace },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', name: role, namespace }],
      })
      const token = await tokenOf(namespace, role)
      const core = ['pods', 'services', 'configmaps', 'secrets', 'serviceaccounts', 'endpoints', 'events']
      const kinds: readonly (readonly [string, readonly string[]])[] = [
        [
          '/api/v1',
          [...core, 'persistentvolumeclaims', 'limitranges', 'resourcequotas', 'replicationcontrollers'],
        ],
        [
          '/apis/apps/v1',
          ['deployments', 'statefulsets', 'daemonsets', 'replicasets', 'controllerrevisions'],
        ],
        ['/apis/batch/v1', ['jobs', 'cronjobs']],
        ['/apis/networking.k8s.io/v1', ['ingresses', 'networkpolicies']],
        ['/apis/rbac.authorization.k8s.io/v1', ['roles', 'rolebindings']],
        ['/apis/coordination.k8s.io/v1', ['leases']],
        ['/apis/autoscaling/v2', ['horizontalpodautoscalers']],
        ['/apis/policy/v1', ['poddisruptionbudgets']],
      ]
      for (const [native, plurals] of kinds) {
        for (const plural of plurals) {
          for (const place of [`namespaces/${namespace}/`, 'namespaces/default/', '']) {
            // A list of the whole cluster is narrowed to the namespace.
            const asked = place || `namespaces/${namespace}/`
            const expected = await sendToKube(token, `${native}/${asked}${plural}?limit=1`)
            const given = await sendAs(token, `${base}/${place}${plural}?limit=1`)
            expect(given.code, `${place}${plural}: ${given.body}`).to.equal(expected.code)
          }
        }
      }
      const expected = await sendToKube(token, `${iam}/users`)
      expect(await sendAs(token, `${base}/users`)).to.include({ code: expected.code })
    })

  it('to read everything cause 404 for an unknown kind', async () => {
    const response = await sendAs(await accessToken(), `${base}/nothings`)
    expect(response.code).to.equal(404)
  })

  it('are granted and revoked within a second, although decisions are cached', async () => {
    const namespace = uniqueName('revoked')
    await makeNamespace(namespace, ['reader'])
    try {
      const token = await tokenOf(namespace, 'reader')
      const codes = () =>
        Promise.all(
          [`${base}/namespaces/${namespace}/configmaps`, `/kapi/v1/namespaces/${namespace}/configmaps`].map(
            async path => (await sendAs(token, path)).code,
          ),
        )
      expect(await codes()).to.deep.equal([403, 403])
      const toReader = ['--clusterrole=view', `--serviceaccount=${namespace}:reader`]
      for (let i = 0; i < 2; i++) {
        await kubectlOutput('create', 'rolebinding', 'reader', '-n', namespace, ...toReader)
        await eventually(async () => expect(await codes()).to.deep.equal([200, 200]), withinMs)
        await kubectlOutput('delete', 'rolebinding', 'reader', '-n', namespace)
        await eventually(async () => expect(await codes()).to.deep.equal([403, 403]), withinMs)
      }
    } finally {
      await kubectl('delete', 'namespace', namespace, '--wait=false')
    }
  })
})

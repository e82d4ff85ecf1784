import { expect } from 'chai'
import {
  accessToken,
  group,
  kubectl,
  kubectlJson,
  kubectlOutput,
  makeNamespace,
  tokenOf,
  uniqueName,
  version,
} from './cluster.ts'
import { apply, eventually, groupDomain, sendAs } from './http.ts'
import { setting } from './run.ts'

const [home, other] = [uniqueName('merged-a'), uniqueName('merged-b')]
const root = `/kapis/${group}/${version}`
const rbac = 'rbac.authorization.k8s.io'
const containers = [{ name: 'a', image: 'a' }]

type Item = { readonly kind: string; readonly metadata: { readonly name: string; readonly uid: string } }
type Owner = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

function workload(kind: string, name: string, more: object = {}, owners: readonly Owner[] = []) {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: home, ownerReferences: owners },
    spec: {
      ...{ replicas: 0, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers } },
      ...more,
    },
  }
}

/** Lists of several kinds, and of objects that an owner owns through other objects. */
describe('a list of several kinds', function () {
  this.timeout(60_000)
  let admin = ''
  let reader = ''
  let deployment: Owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: '' }

  async function ownerOf(kind: string, name: string): Promise<Owner> {
    const { metadata } = (await kubectlJson('get', kind, name, '-n', home, '-o', 'json')) as Item
    return { apiVersion: 'apps/v1', kind, name, uid: metadata.uid }
  }

  before(async () => {
    admin = await accessToken()
    await makeNamespace(home, ['reader'])
    await makeNamespace(other, ['default'])
    await apply(workload('Deployment', 'web'))
    await apply(workload('StatefulSet', 'db', { serviceName: 'db' }))
    deployment = await ownerOf('Deployment', 'web')
    await apply(workload('ReplicaSet', 'web-1', {}, [deployment]))
    const owner = await ownerOf('ReplicaSet', 'web-1')
    for (const [name, ownerReferences] of [
      ['web-1-a', [owner]],
      ['alone', []],
    ] as const)
      await apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: home, ownerReferences },
        spec: { serviceAccountName: 'reader', containers },
      })
    reader = await tokenOf(home, 'reader')
    await apply({
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'some', namespace: home },
      rules: [
        { apiGroups: [group], resources: ['pods', 'deployments'], verbs: ['list'] },
        { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['list'] },
      ],
    })
    await apply({
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'some', namespace: home },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'some' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: home }],
    })
  })
  after(() => kubectl('delete', 'namespace', home, other, '--wait=false'))

  async function list(token: string, path: string) {
    const { code, body, headers } = await sendAs(token, path)
    expect(code, body).to.equal(200)
    const parsed = JSON.parse(body)
    const names = parsed.items.map(({ kind, metadata }: Item) => `${kind} ${metadata.name}`)
    return { ...parsed, names, warning: String(headers.warning ?? '') }
  }

  it('is one sorted list with pages and a total', async () => {
    const query = `kinds=deployments,statefulsets&namespace=${home}&sortBy=name&ascending=true`
    await eventually(async () => {
      const all = await list(admin, `${root}/resources?${query}`)
      expect(all.names).to.deep.equal(['StatefulSet db', 'Deployment web'])
      expect(all.totalItems).to.equal(2)
      expect(all.kinds).to.deep.equal([
        { resource: 'deployments', totalItems: 1 },
        { resource: 'statefulsets', totalItems: 1 },
      ])
    }, 10_000)
    const second = await list(admin, `${root}/resources?${query}&limit=1&page=2&fields=kind,metadata.name`)
    expect(second.items).to.deep.equal([{ kind: 'Deployment', metadata: { name: 'web' } }])
    const searched = await list(admin, `${root}/resources?${query}&name=d`)
    expect(searched.names).to.deep.equal(['StatefulSet db'])
  })

  it('is restricted for each kind, and names the kinds that the caller may not list', async () => {
    await eventually(async () => {
      const shown = await list(reader, `${root}/resources?kinds=deployments,secrets,statefulsets&sortBy=name`)
      expect(shown.names).to.deep.equal(['Deployment web', 'StatefulSet db'])
      const [deployments, secrets, statefulsets] = shown.kinds
      expect(deployments).to.deep.equal({ resource: 'deployments', totalItems: 1, namespaces: 1 })
      expect(statefulsets).to.deep.equal({ resource: 'statefulsets', totalItems: 1, namespaces: 1 })
      expect(secrets.status.code).to.equal(403)
      expect(secrets.status.message).to.contain('cannot list resource "secrets"')
    }, 10_000)
  })

  it('cannot contain itself, counts or subscriptions', async () => {
    const { kinds } = await list(admin, `${root}/resources?kinds=resources,counts`)
    for (const { status } of kinds) expect(status.code).to.equal(400)
  })

  describe('of an owner', () => {
    const owned = (seniority: number, scope = `/namespaces/${home}`) =>
      `${root}${scope}/pods?ownerReference=${deployment.uid}&seniority=${seniority}`

    it('follows ReplicaSets to pods', async () => {
      expect((await list(admin, owned(0))).names).to.deep.equal([])
      await eventually(async () => {
        expect((await list(admin, owned(1))).names).to.deep.equal(['Pod web-1-a'])
        expect((await list(admin, owned(1, ''))).names).to.deep.equal(['Pod web-1-a'])
      }, 10_000)
      const all = await list(
        admin,
        `${root}/resources?kinds=replicasets,pods&namespace=${home}&sortBy=name&ascending=true&name=web-1&ownerReference=${deployment.uid}&seniority=1`,
      )
      expect(all.names).to.deep.equal(['ReplicaSet web-1', 'Pod web-1-a'])
    })

    it('does not follow kinds that the caller may not list, and reports this', async () => {
      await eventually(async () => {
        const { names, warning } = await list(reader, owned(1))
        expect(names).to.deep.equal([])
        expect(warning).to.contain('owners of kind ReplicaSet are skipped: replicasets.apps is forbidden')
      }, 10_000)
    })

    it('does not follow kinds that have a route of their own, and reports this', async () => {
      const user = [
        'get',
        `users.iam.${groupDomain}`,
        setting('KAPIS_USER'),
        '-o',
        'jsonpath={.metadata.uid}',
      ]
      const uid = await kubectlOutput(...user)
      const owner = {
        apiVersion: `iam.${groupDomain}/v1alpha2`,
        kind: 'User',
        name: setting('KAPIS_USER'),
        uid,
      }
      const metadata = { name: 'of-user', namespace: home, ownerReferences: [owner] }
      await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
      await eventually(async () => {
        const { names, warning } = await list(
          admin,
          `${root}/namespaces/${home}/configmaps?ownerReference=${uid}&seniority=1`,
        )
        expect(names).to.deep.equal(['ConfigMap of-user'])
        expect(warning).to.contain(
          'owners of kind User are skipped: Kapis does not list this kind as a part of another request',
        )
      }, 10_000)
    })

    it('cannot be watched', async () => {
      const { code, body } = await sendAs(admin, `${owned(1)}&watch=true`)
      expect(code).to.equal(400)
      expect(JSON.parse(body).message).to.contain('seniority is not supported for a watch')
      const { body: alone } = await sendAs(admin, `${root}/pods?seniority=1`)
      expect(JSON.parse(alone).message).to.equal('seniority requires ownerReference, the uid of an owner')
    })
  })
})

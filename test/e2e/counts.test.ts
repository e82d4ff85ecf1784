import { expect } from 'chai'
import {
  accessToken,
  group,
  kubectl,
  kubectlOutput,
  makeNamespace,
  tokenOf,
  uniqueName,
  version,
} from './cluster.ts'
import { apply, eventually, sendAs } from './http.ts'

const path = `/kapis/${group}/${version}/counts`
const [home, other] = [uniqueName('counts-a'), uniqueName('counts-b')]
const rbac = 'rbac.authorization.k8s.io'

type Count = {
  readonly resource: string
  readonly totalItems?: number
  readonly namespaces?: number
  readonly status?: { readonly code: number; readonly message: string }
}

describe('counts of several resources', function () {
  this.timeout(60_000)
  let admin = ''
  let reader = ''

  async function counts(token: string, query: string): Promise<readonly Count[]> {
    const { code, body } = await sendAs(token, `${path}${query}`)
    expect(code, body).to.equal(200)
    return JSON.parse(body).items
  }

  before(async () => {
    admin = await accessToken()
    await makeNamespace(home, ['reader'])
    await makeNamespace(other, [])
    for (const [name, namespace] of [
      ['a', home],
      ['b', home],
      ['a', other],
    ])
      await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } })
    reader = await tokenOf(home, 'reader')
    await apply({
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'view', namespace: home },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: home }],
    })
  })
  after(() => kubectl('delete', 'namespace', home, other, '--wait=false'))

  it('equal the number of items of the lists', async () => {
    const names = async (...args: readonly string[]) =>
      (await kubectlOutput('get', ...args, '-o', 'name')).split('\n').filter(Boolean).length
    const query = `?kinds=configmaps,nodes&namespace=`
    await eventually(async () => {
      expect(await counts(admin, query)).to.deep.equal([
        { resource: 'configmaps', totalItems: await names('configmaps', '-A') },
        { resource: 'nodes', totalItems: await names('nodes') },
      ])
    }, 20_000)
    await eventually(async () => {
      expect(await counts(admin, `?kinds=configmaps&namespace=${home}`)).to.deep.equal([
        { resource: 'configmaps', totalItems: await names('configmaps', '-n', home) },
      ])
    }, 10_000)
  })

  it('have a default set of resources', async () => {
    const items = await counts(admin, '')
    expect(items.map(({ resource }) => resource)).to.include.members([
      'pods',
      'deployments',
      'users',
      'secrets',
    ])
    for (const { resource, totalItems } of items) expect(totalItems, resource).to.be.at.least(0)
    const inside = (await counts(admin, `?namespace=${home}`)).map(({ resource }) => resource)
    expect(inside).to.include('pods').and.not.include('nodes')
  })

  it('are restricted to what the caller may list, and report this', async () => {
    await eventually(async () => {
      const [configs, secrets, unicorns] = await counts(reader, '?kinds=configmaps,secrets,unicorns')
      // The third ConfigMap is kube-root-ca.crt.
      const { totalItems, ...rest } = configs ?? {}
      expect(rest).to.deep.equal({ resource: 'configmaps', namespaces: 1 })
      expect(totalItems).to.be.within(2, 3)
      expect(secrets?.status?.code).to.equal(403)
      // The 404 for an unknown kind is only sent to callers who may list it.
      expect(unicorns?.status?.code).to.equal(403)
    }, 10_000)
    expect((await counts(admin, '?kinds=unicorns'))[0]?.status?.code).to.equal(404)
    const [forbidden] = await counts(reader, `?kinds=configmaps&namespace=${other}`)
    expect(forbidden?.status?.code).to.equal(403)
    expect(forbidden).to.not.have.property('totalItems')
  })

  const refused: readonly [query: string, message: string][] = [
    ['?kinds=pods&kinds=nodes', 'kinds is given more than once'],
    ['?kinds=pods,,nodes', 'invalid kinds: "" is not a plural such as pods'],
    ['?kinds=pods/x', 'invalid kinds: "pods/x" is not a plural such as pods'],
    ['?namespace=a/b', 'invalid namespace "a/b": expected the name of a namespace'],
    [
      `?kinds=${Array.from({ length: 51 }, (_, i) => `k${i}`).join()}`,
      'kinds has 51 names; at most 50 are allowed',
    ],
  ]
  for (const [query, message] of refused)
    it(`rejects ${query.slice(0, 40)}`, async () => {
      const response = await sendAs(admin, `${path}${query}`)
      expect(response.code).to.equal(400)
      expect(JSON.parse(response.body).message).to.equal(message)
    })

  it('cannot count themselves', async () => {
    const [counted] = await counts(admin, '?kinds=counts')
    expect(counted?.status?.code).to.equal(400)
    expect(counted?.status?.message).to.equal('invalid path: counts cannot be part of another request')
  })

  it('are read-only', async () => {
    expect((await sendAs(admin, path, { method: 'POST', body: '{}' })).code).to.equal(405)
  })
})

import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../hack/controlplane/settings.ts'
import { bareCluster, type Cluster, hostAddress, stopBareCluster } from '../installation/control-plane.ts'
import { type Pod, startPod } from '../installation/pod.ts'
import { uninstall } from '../installation/uninstall.ts'
import { type ApiserverReplica, startApiserver } from './apiserver-replica.ts'
import { accessToken, group, type HttpResponse, kubectlOutput, uniqueName, version } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import {
  createMemberAccount,
  grantMemberUse,
  kubeconfigFor,
  registerMember,
  removeMemberAccount,
  removeMembers,
  tokenOfMember,
} from './member-registration.ts'
import { createUser, loginAs, removeUser } from './oauth.ts'
import { scratch } from './run.ts'

type ListResponse = {
  readonly items: readonly {
    readonly metadata: {
      readonly name: string
      readonly annotations: Readonly<Record<string, string>>
      readonly selfLink: string
    }
  }[]
  readonly totalItems: number
  readonly clusters: readonly {
    readonly cluster: string
    readonly totalItems?: number
    readonly namespaces?: number
    readonly status?: { readonly code: number; readonly message: string }
  }[]
}

const definition = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'gears.e2e.example.io' },
  spec: {
    ...{ group: 'e2e.example.io', scope: 'Cluster', names: { plural: 'gears', kind: 'Gear' } },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** Two real control planes, each with a Kapis: one is the member of the other. */
describe('lists over clusters', function () {
  this.timeout(300_000)
  const east = uniqueName('east').slice(-40)
  const bare = uniqueName('bare').slice(-40)
  const closed = uniqueName('closed').slice(-40)
  const user = { username: uniqueName('jane'), password: 'Correct horse 1' }
  const namespace = uniqueName('shop').slice(-40)
  const overlay = join(
    repository,
    'manifests/overlays',
    groupDomain === 'kubesphere.io' ? 'kubesphere' : 'default',
  )
  let member: Cluster
  let kapis: Pod
  let replica: ApiserverReplica
  let token: string

  const send = (query: string, { kind = 'configmaps', scope = '', as = token } = {}): Promise<HttpResponse> =>
    sendAs(as, `${replica.server}/kapis/${group}/${version}/${scope}${kind}?label=app=${namespace}&${query}`)
  const listed = ({ code, body }: HttpResponse): ListResponse => {
    expect(code, body).to.equal(200)
    return JSON.parse(body)
  }
  const namesOf = ({ items }: ListResponse) =>
    items.map(({ metadata: { name, annotations } }) => `${annotations[`${groupDomain}/cluster`]} ${name}`)

  /** Creates ConfigMaps that the user may list in their namespace. */
  async function fill(kubectl: (args: readonly string[]) => Promise<string>, names: readonly string[]) {
    await kubectl(['create', 'namespace', namespace])
    await kubectl([
      '-n',
      namespace,
      'create',
      'role',
      'reader',
      '--verb=get,list,watch',
      '--resource=configmaps',
    ])
    await kubectl([
      '-n',
      namespace,
      'create',
      'rolebinding',
      'reader',
      '--role=reader',
      `--user=${user.username}`,
    ])
    for (const name of names) {
      await kubectl(['-n', namespace, 'create', 'configmap', name])
      await kubectl(['-n', namespace, 'label', 'configmap', name, `app=${namespace}`])
    }
  }

  before(async () => {
    member = await bareCluster()
    await member.output(['apply', '-k', overlay])
    const env = { KAPIS_TLS_IP_ADDRESSES: hostAddress(), KAPIS_LOGS_STORE: 'none' }
    kapis = await startPod(member, { name: 'member-kapis', namespace: 'kapis-system', env })
    await createMemberAccount(member)
    await fill(args => member.output(args), ['a', 'd'])
    await fill(args => kubectlOutput(...args), ['b', 'c'])
    replica = await startApiserver({
      env: { KAPIS_MULTICLUSTER_ENABLED: 'true', KAPIS_LOGS_EMBEDDED_FOLDER: join(scratch, 'lists-logs') },
    })
    await createUser(user)
    token = (await loginAs(user)).access_token
    const caPair = ['-n', 'kapis-system', 'get', 'secret', 'kapis-ca', '-o', 'jsonpath={.data.tls\\.crt}']
    const ca = Buffer.from(await member.output(caPair), 'base64').toString('utf8')
    const kubeconfig = kubeconfigFor(member, await tokenOfMember(member))
    const secret = { kubeconfig, kubesphereAPIEndpoint: kapis.url, 'ca.crt': ca }
    await registerMember(east, secret)
    await registerMember(bare, { kubeconfig })
    await registerMember(closed, secret)
    await grantMemberUse(east, user.username, [east, bare])
  })
  after(async () => {
    try {
      await replica?.stop()
      await removeUser(user.username)
      await removeMembers(east, [east, bare, closed])
      await kubectlOutput('delete', 'namespace', namespace, '--wait=false', '--ignore-not-found')
      await kapis?.stop()
      await removeMemberAccount(member)
      await uninstall(member, ['-k', overlay])
      await member.output(['delete', 'namespace', namespace, '--ignore-not-found'])
    } finally {
      await stopBareCluster()
    }
  })

  it('sort, page and count the objects of both, each with its cluster', async () => {
    const all = `clusters=host,${east}&sortBy=name&ascending=true`
    await eventually(async () => {
      const whole = listed(await send(all, { scope: `namespaces/${namespace}/` }))
      expect(namesOf(whole)).to.deep.equal([`${east} a`, 'host b', 'host c', `${east} d`])
      expect(whole.clusters).to.deep.equal([
        { cluster: 'host', totalItems: 2 },
        { cluster: east, totalItems: 2 },
      ])
      expect(whole.items[0]?.metadata.selfLink).to.equal(
        `/clusters/${east}/api/v1/namespaces/${namespace}/configmaps/a`,
      )
    }, 60_000)
    const second = listed(await send(`${all}&limit=3&page=2`))
    expect([namesOf(second), second.totalItems]).to.deep.equal([[`${east} d`], 4])
    expect(second.clusters, 'narrowed lists').to.deep.equal([
      { cluster: 'host', totalItems: 2, namespaces: 1 },
      { cluster: east, totalItems: 2, namespaces: 1 },
    ])
    const one = listed(await send(`clusters=${east}&name=d&fields=metadata.name`))
    expect(one.items).to.deep.equal([
      { metadata: { name: 'd', annotations: { [`${groupDomain}/cluster`]: east } } },
    ])
  })

  it('contain every cluster that the caller may use, and report which list is missing', async () => {
    const response = await send('clusters=*&sortBy=name&ascending=true')
    const whole = listed(response)
    expect(namesOf(whole)).to.deep.equal([`${east} a`, 'host b', 'host c', `${east} d`])
    const found = whole.clusters.map(({ cluster }) => cluster)
    expect([found[0], found.slice(1).sort()]).to.deep.equal(['host', [bare, east].sort()])
    const missing = `the cluster "${bare}" does not serve /kapis: it has no kubesphereAPIEndpoint`
    expect(whole.clusters.find(({ cluster }) => cluster === bare)?.status).to.include({
      code: 503,
      message: missing,
    })
    expect(response.headers.warning).to.include(`cluster \\"${bare}\\" is missing`)
    const others = listed(await send('clusters=*', { as: await accessToken() }))
    expect(others.clusters.map(({ cluster }) => cluster)).to.include.members([east, bare, closed])
  })

  it('contain a kind that only the member serves, and report this cluster', async () => {
    await member.output(['apply', '-f', '-'], JSON.stringify(definition))
    try {
      await member.output(['wait', `crd/${definition.metadata.name}`, '--for=condition=Established'])
      const labels = { app: namespace }
      const gear = { apiVersion: 'e2e.example.io/v1', kind: 'Gear', metadata: { name: 'g', labels } }
      await member.output(['apply', '-f', '-'], JSON.stringify(gear))
      const as = await accessToken()
      const notServed = 'resource "gears" is not supported'
      for (const clusters of [`host,${east}`, '*'])
        await eventually(async () => {
          const response = await send(`clusters=${clusters}`, { kind: 'gears', as })
          const whole = listed(response)
          // The administrator may use `closed` too, which is the same cluster under another name.
          const expected = clusters === '*' ? [`${closed} g`, `${east} g`] : [`${east} g`]
          expect([namesOf(whole), whole.totalItems]).to.deep.equal([expected, expected.length])
          expect(whole.items[0]).to.deep.include({ apiVersion: gear.apiVersion, kind: gear.kind })
          expect(whole.items.at(-1)?.metadata.selfLink).to.equal(
            `/clusters/${east}/apis/e2e.example.io/v1/gears/g`,
          )
          const host = whole.clusters.find(({ cluster }) => cluster === 'host')
          expect(host?.status).to.include({ code: 404, message: notServed })
          expect(response.headers.warning).to.include('cluster \\"host\\" is missing: resource')
        }, 30_000)
      const nowhere = await send(`clusters=host,${east}`, { kind: 'levers', as })
      expect([nowhere.code, JSON.parse(nowhere.body).message]).to.deep.equal([
        404,
        'resource "levers" is not supported',
      ])
      const refused = await send(`clusters=host,${east}`, { kind: 'gears' })
      expect(refused.code, refused.body).to.equal(403)
    } finally {
      await member.output(['delete', 'crd', definition.metadata.name, '--ignore-not-found'])
    }
  })

  it('return no more than a request to each cluster', async () => {
    const refusedHere = await send(`clusters=${closed}`)
    expect([refusedHere.code, JSON.parse(refusedHere.body).message]).to.deep.equal([
      403,
      `clusters.cluster.${groupDomain} "${closed}" is forbidden: User "${user.username}" cannot proxy resource "clusters" in API group "cluster.${groupDomain}" at the cluster scope`,
    ])
    const secrets = await send(`clusters=host,${east}`, { kind: 'secrets' })
    expect([secrets.code, JSON.parse(secrets.body).message]).to.deep.equal([
      403,
      `secrets is forbidden: User "${user.username}" cannot list resource "secrets" in API group "" at the cluster scope`,
    ])
  })

  it('omit a member that is down', async () => {
    await kapis.stop()
    const response = await send(`clusters=${east},host&sortBy=name&ascending=true`)
    const whole = listed(response)
    expect(namesOf(whole)).to.deep.equal(['host b', 'host c'])
    expect(whole.clusters[0]?.status?.code).to.equal(503)
    expect(whole.clusters[0]?.status?.message).to.match(/^the Kapis of the cluster ".*" is not responding$/)
    expect(response.headers.warning).to.include('is missing: the Kapis of the cluster')
    expect((await send(`clusters=${east}`)).code).to.equal(503)
  })
})

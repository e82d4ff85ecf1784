import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createCa } from '../../pkg/certs/issue.ts'
import { bareCluster, type Cluster, stopBareCluster } from '../installation/control-plane.ts'
import { type ApiserverReplica, startApiserver } from './apiserver-replica.ts'
import {
  accessToken,
  group,
  type HttpResponse,
  kubectlOutput,
  tokenOf,
  uniqueName,
  version,
} from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import {
  clusterResource,
  createMemberAccount,
  grantMemberUse,
  kubeconfigFor,
  registerMember,
  removeMemberAccount,
  removeMembers,
  tokenOfMember,
} from './member-registration.ts'
import { createUser, loginAs, removeUser } from './oauth.ts'
import { follow, scratch, setting } from './run.ts'

/** A real second control plane, which a kapis-apiserver with member clusters serves. */
describe('member clusters', function () {
  this.timeout(300_000)
  const name = uniqueName('member').slice(-40)
  const gone = uniqueName('gone').slice(-40)
  const odd = uniqueName('odd').slice(-40)
  const user = { username: uniqueName('jane'), password: 'Correct horse 1' }
  const namespace = 'shop'
  const resource = clusterResource
  let member: Cluster
  let replica: ApiserverReplica
  let token: string

  const send = (path: string, options = {}, as = token): Promise<HttpResponse> =>
    sendAs(as, `${replica.server}${path}`, options)
  const messageOf = ({ body }: HttpResponse): unknown => JSON.parse(body).message

  const register = (cluster: string, kubeconfig: string) => registerMember(cluster, { kubeconfig })
  const createToken = () => tokenOfMember(member)

  before(async () => {
    member = await bareCluster()
    await createMemberAccount(member)
    await member.output(['create', 'namespace', namespace])
    const verbs = ['--verb=get,list,watch,create,delete', '--resource=pods,pods/exec,configmaps']
    await member.output(['create', 'role', 'shop', '-n', namespace, ...verbs])
    await member.output([
      'create',
      'rolebinding',
      'shop',
      '-n',
      namespace,
      '--role=shop',
      `--user=${user.username}`,
    ])
    const pod = { spec: { nodeName: 'worker-1', containers: [{ name: 'web', image: 'web' }] } }
    const overrides = `--overrides=${JSON.stringify(pod)}`
    // The service account of the namespace is created a moment after it.
    await eventually(() => member.output(['run', 'web', '-n', namespace, '--image=web', overrides]), 20_000)

    replica = await startApiserver({
      env: { KAPIS_MULTICLUSTER_ENABLED: 'true', KAPIS_LOGS_EMBEDDED_FOLDER: join(scratch, 'member-logs') },
    })
    await createUser(user)
    token = (await loginAs(user)).access_token
    await register(name, kubeconfigFor(member, await createToken()))
    await register(gone, kubeconfigFor(member, 't', 'https://127.0.0.1:1'))
    await member.output(['wait', '-n', namespace, 'pod/web', '--for=condition=Ready', '--timeout=120s'])
  })
  after(async () => {
    try {
      await replica?.stop()
      await removeUser(user.username)
      await removeMembers(name, [name, gone, odd])
      await removeMemberAccount(member)
    } finally {
      await stopBareCluster()
    }
  })

  const pods = `/clusters/${name}/api/v1/namespaces/${namespace}/pods`

  it('are hidden from callers without permission to proxy, existing or not', async () => {
    for (const cluster of [name, 'no-such-cluster']) {
      const response = await send(`/clusters/${cluster}/api/v1/pods`)
      expect([response.code, messageOf(response)]).to.deep.equal([
        403,
        `${resource} "${cluster}" is forbidden: User "${user.username}" cannot proxy resource "clusters" in API group "cluster.${groupDomain}" at the cluster scope`,
      ])
    }
    const administrator = await accessToken()
    const unknown = await send('/clusters/no-such-cluster/api/v1/pods', {}, administrator)
    expect([unknown.code, messageOf(unknown)]).to.deep.equal([404, `${resource} "no-such-cluster" not found`])
  })

  it('are unknown while the option is off', async () => {
    const folder = join(scratch, 'no-member-logs')
    const off = await startApiserver({
      env: { KAPIS_MULTICLUSTER_ENABLED: 'false', KAPIS_LOGS_EMBEDDED_FOLDER: folder },
    })
    try {
      const administrator = await accessToken()
      for (const path of [`/clusters/${name}/api`, `/kapis/${group}/${version}/pods?clusters=${name}`]) {
        const response = await sendAs(administrator, `${off.server}${path}`)
        expect([response.code, messageOf(response)]).to.deep.equal([
          404,
          `unknown cluster "${name}"; supported: host (multicluster.enabled is false)`,
        ])
      }
    } finally {
      await off.stop()
    }
  })

  it('are used with the permissions that the member grants', async () => {
    await grantMemberUse(name, user.username, [name, gone])
    await eventually(async () => {
      const { code, body } = await send(pods)
      expect(code, body).to.equal(200)
      expect(
        JSON.parse(body).items.map((pod: { metadata: { name: string } }) => pod.metadata.name),
      ).to.deep.equal(['web'])
    }, 20_000)
    for (const path of [`/api/clusters/${name}/v1/namespaces/${namespace}/pods`, `/clusters/${name}/version`])
      expect((await send(path)).code).to.equal(200)
    const refused = await send(`/clusters/${name}/api/v1/namespaces/default/pods`)
    expect([refused.code, messageOf(refused)]).to.deep.equal([
      403,
      `pods is forbidden: User "${user.username}" cannot list resource "pods" in API group "" in the namespace "default"`,
    ])
    const noKapis = await send(`/kapis/clusters/${name}/iam.${groupDomain}/v1alpha2/users`)
    expect([noKapis.code, messageOf(noKapis)]).to.deep.equal([
      503,
      `the cluster "${name}" does not serve /kapis: it has no kubesphereAPIEndpoint`,
    ])
  })

  it('allow no impersonation with headers of the caller', async () => {
    for (const headers of [
      { 'impersonate-user': 'kubernetes-admin', 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'system:serviceaccount:kube-system:default' },
    ]) {
      const { code, body } = await send(`/clusters/${name}/api/v1/nodes`, { headers })
      expect(code, body).to.equal(403)
      expect(body).to.include('cannot impersonate')
    }
    // An administrator here may impersonate, but the group stays here.
    const administrator = await accessToken()
    const headers = { 'impersonate-user': 'stranger', 'impersonate-group': 'system:masters' }
    const asMaster = await send(`/clusters/${name}/api/v1/nodes`, { headers }, administrator)
    expect([asMaster.code, messageOf(asMaster)]).to.deep.equal([
      403,
      'nodes is forbidden: User "stranger" cannot list resource "nodes" in API group "" at the cluster scope',
    ])
    const account = await send(pods, {}, await tokenOf('default', 'default'))
    expect(account.code).to.equal(403)
  })

  const kubectl = (...args: readonly string[]) => replica.kubectl(token, ...args)
  const there = () => ['--server', `${replica.server}/clusters/${name}`, '-n', namespace]

  it('receive names in Unicode unchanged', async () => {
    const administrator = await accessToken()
    const stranger = 'jörg 日本 🐳'
    const group = 'müller'
    await member.output(['create', 'clusterrole', 'unicode', '--verb=list', '--resource=nodes'])
    await member.output([
      'create',
      'clusterrolebinding',
      'unicode',
      '--clusterrole=unicode',
      `--group=${group}`,
    ])
    try {
      // The group grants permission to proxy, and stays here.
      const asStranger = [...there(), `--as=${stranger}`, '--as-group=system:masters']
      const refused = await replica.kubectl(administrator, ...asStranger, 'get', 'nodes')
      expect(refused.stderr).to.include(`User "${stranger}" cannot list resource "nodes"`)
      await eventually(async () => {
        const args = [...asStranger, `--as-group=${group}`, 'get', 'nodes', '-o', 'name']
        const { code, stdout, stderr } = await replica.kubectl(administrator, ...args)
        expect([code, stdout.includes('node/worker-1')], stderr).to.deep.equal([0, true])
      }, 20_000)
    } finally {
      for (const kind of ['clusterrolebinding', 'clusterrole'])
        await member.output(['delete', kind, 'unicode'])
    }
  })

  it('support exec, large objects and watches of kubectl', async () => {
    const { code, stdout, stderr } = await kubectl(...there(), 'exec', 'web', '--', 'sh', '-c', 'echo out')
    expect([code, stdout], stderr).to.deep.equal([0, 'out\n'])
    const data = { text: 'x'.repeat(900_000) }
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data })
    const created = await send(`/clusters/${name}/api/v1/namespaces/${namespace}/configmaps`, {
      ...{ method: 'POST', body },
      headers: { 'content-type': 'application/json' },
    })
    expect(created.code, created.body.slice(0, 500)).to.equal(201)
    expect(JSON.parse(created.body).data).to.deep.equal(data)
  })

  it('show their health in lists', async () => {
    const administrator = await accessToken()
    await eventually(async () => {
      const path = `/kapis/resources.${groupDomain}/v1alpha3/clusters?limit=10&sortBy=name`
      const { code, body } = await send(path, {}, administrator)
      expect(code, body).to.equal(200)
      const items: readonly { metadata: { name: string }; status: { conditions: readonly object[] } }[] =
        JSON.parse(body).items
      const statusOf = (cluster: string) => items.find(({ metadata }) => metadata.name === cluster)?.status
      expect(statusOf(name)).to.include({ nodeCount: 2 })
      expect(statusOf(name)?.conditions[0]).to.include({ type: 'Ready', status: 'True', reason: 'Passed' })
      expect(statusOf(gone)?.conditions[0]).to.include({
        ...{ type: 'Ready', status: 'False', reason: 'FailedCheck' },
        message: 'the cluster is not responding (connection_refused)',
      })
    }, 30_000)
  })

  it('are rejected with a kubeconfig that runs a program, reads a file or trusts any server', async () => {
    const administrator = await accessToken()
    const ran = join(scratch, 'kubeconfig-ran')
    const otherCa = Buffer.from(createCa({ commonName: 'other', validityDays: 1 }).certPem).toString('base64')
    const inUser = 'supported: token, client-certificate-data, client-key-data, extensions'
    const inCluster =
      'supported: server, certificate-authority-data, tls-server-name, disable-compression, extensions'
    const cases: readonly (readonly [cluster: object, user: object, reason: string, message: string])[] = [
      [
        {},
        { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch', args: [ran] } },
        'InvalidConnection',
        `unsupported key "exec" in the user of the kubeconfig; ${inUser}`,
      ],
      [
        {},
        { 'auth-provider': { name: 'oidc' } },
        'InvalidConnection',
        `unsupported key "auth-provider" in the user of the kubeconfig; ${inUser}`,
      ],
      [
        {},
        { tokenFile: '/etc/passwd' },
        'InvalidConnection',
        `unsupported key "tokenFile" in the user of the kubeconfig; ${inUser}`,
      ],
      [
        { 'certificate-authority': setting('KAPIS_CA') },
        {},
        'InvalidConnection',
        `unsupported key "certificate-authority" in the cluster of the kubeconfig; ${inCluster}`,
      ],
      [
        { 'insecure-skip-tls-verify': true },
        {},
        'InvalidConnection',
        `unsupported key "insecure-skip-tls-verify" in the cluster of the kubeconfig; ${inCluster}`,
      ],
      [
        { 'certificate-authority-data': otherCa },
        {},
        'FailedCheck',
        'the cluster has a certificate that the expected CA has not signed (tls_certificate_error)',
      ],
    ]
    const kubeconfig = kubeconfigFor(member, 'secret-token')
    for (const [cluster, user, reason, message] of cases) {
      const changed = JSON.parse(kubeconfig)
      Object.assign(changed.clusters[0].cluster, cluster)
      Object.assign(changed.users[0].user, user)
      await register(odd, JSON.stringify(changed))
      await eventually(async () => {
        const found = JSON.parse(await kubectlOutput('get', resource, odd, '-o', 'json'))
        expect(found.status?.conditions?.[0]).to.include({ type: 'Ready', status: 'False', reason, message })
        const response = await send(`/clusters/${odd}/api/v1/pods`, {}, administrator)
        expect([response.code, messageOf(response)]).to.deep.equal([
          503,
          `the cluster "${odd}" is not ready: ${message}`,
        ])
      }, 30_000)
    }
    expect(existsSync(ran)).to.equal(false)
  })

  it('are in the list of the tenant API for those who may get them', async () => {
    const namesFor = async (as: string): Promise<readonly string[]> => {
      const path = `/kapis/tenant.${groupDomain}/v1alpha2/clusters?sortBy=name&ascending=true`
      const { code, body } = await send(path, {}, as)
      expect(code, body).to.equal(200)
      return JSON.parse(body).items.map((item: { metadata: { name: string } }) => item.metadata.name)
    }
    expect(await namesFor(await accessToken())).to.include.members([name, gone])
    expect(await namesFor(token), 'proxy is not get').to.deep.equal([])
    const right = uniqueName('get-cluster')
    const only = ['--verb=get', `--resource=${resource}`, `--resource-name=${name}`]
    await kubectlOutput('create', 'clusterrole', right, ...only)
    await kubectlOutput(
      'create',
      'clusterrolebinding',
      right,
      `--clusterrole=${right}`,
      `--user=${user.username}`,
    )
    try {
      await eventually(async () => expect(await namesFor(token)).to.deep.equal([name]), 20_000)
      const { code } = await send(`/kapis/tenant.${groupDomain}/v1alpha2/clusters`, {
        method: 'POST',
        body: '{}',
      })
      expect(code).to.equal(405)
    } finally {
      for (const kind of ['clusterrole', 'clusterrolebinding']) await kubectlOutput('delete', kind, right)
    }
  })

  it('return 503 while they are down, and others are served', async () => {
    const response = await send(`/clusters/${gone}/api/v1/pods`)
    expect([response.code, messageOf(response)]).to.deep.equal([
      503,
      `the cluster "${gone}" is not ready: the cluster is not responding (connection_refused)`,
    ])
    expect((await send(pods)).code).to.equal(200)
  })

  it('follow changes of the Secret, and end when the Cluster is deleted', async () => {
    await register(name, kubeconfigFor(member, 'wrong'))
    await eventually(async () => {
      const refused = await send(pods)
      expect([refused.code, messageOf(refused)]).to.deep.equal([
        503,
        `the cluster "${name}" is not ready: the cluster rejects the credential of the kubeconfig`,
      ])
    }, 20_000)
    await register(name, kubeconfigFor(member, await createToken()))
    await eventually(async () => expect((await send(pods)).code).to.equal(200), 20_000)

    const target = [
      '--kubeconfig',
      '/dev/null',
      '--certificate-authority',
      setting('KAPIS_CA'),
      '--token',
      token,
    ]
    const watch = follow('kubectl', [
      ...target,
      ...there(),
      'get',
      '--raw',
      `/api/v1/namespaces/${namespace}/pods?watch=true`,
    ])
    await watch.line(line => line.includes('"ADDED"'), 20_000)
    await kubectlOutput('delete', resource, name)
    await watch.ended
    await eventually(async () => expect((await send(pods)).code).to.equal(404), 20_000)
  })
})

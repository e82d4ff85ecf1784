import { expect } from 'chai'
import {
  accessToken,
  kubectl,
  kubectlOutput,
  makeNamespace,
  sendToKapis,
  tokenOf,
  uniqueName,
  withToken,
} from './cluster.ts'
import { apply, eventually, sendAs } from './http.ts'
import { type CommandResult, follow, run, setting } from './run.ts'

const namespace = uniqueName('proxy')

describe('kube-apiserver through kapis-apiserver', function () {
  this.timeout(60_000)
  let token: string
  let pod: string

  before(async () => {
    await makeNamespace(namespace, ['unprivileged'])
    token = await accessToken()
    pod = (await kubectlOutput('get', 'pods', '-o', 'jsonpath={.items[0].metadata.name}')).trim()
  })
  after(async () => {
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  /** Runs kubectl with kapis-apiserver as its only server. */
  function front(...args: readonly string[]): Promise<CommandResult> {
    return run('kubectl', [...frontArguments(token), ...args])
  }

  /** Runs kubectl with kube-apiserver and the same token. */
  async function direct(...args: readonly string[]): Promise<CommandResult> {
    return run('kubectl', [...(await withToken(token)), ...args])
  }

  const same: readonly (readonly string[])[] = [
    ['get', 'nodes', '-o', 'wide'],
    ['get', 'pods', '-o', 'name'],
    ['get', 'nodes', '-o', 'name', '--chunk-size=2'],
    ['get', 'pods', '-n', 'no-such-namespace'],
    ['get', 'no-such-resource'],
    ['get', 'pod', 'no-such-pod'],
    ['api-resources', '--no-headers', '-o', 'name', '--sort-by=name'],
    ['api-versions'],
    ['explain', 'pods.spec.hostname'],
    ['explain', `--api-version=resources.${setting('KAPIS_GROUP_DOMAIN')}/v1alpha3`, 'nodes.spec'],
    ['auth', 'can-i', 'delete', 'nodes'],
    ['auth', 'can-i', '--list', '-n', 'kube-system'],
    ['get', '--raw', '/apis/apps/v1'],
    ['get', '--raw', '/api/v1/namespaces/default/pods/no-such-pod'],
  ]
  for (const args of same) {
    it(`kubectl ${args.join(' ')} prints the same`, async () => {
      // Repeated, since the printed ages may differ by a second.
      await eventually(async () => expect(await front(...args)).to.deep.equal(await direct(...args)), 20_000)
    })
  }

  it('kubectl auth whoami prints the caller, and not Kapis', async () => {
    const { stdout } = await front('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
    expect(stdout).to.equal(setting('KAPIS_USER'))
  })

  it('writes, patches, scales and deletes objects', async () => {
    const here = ['-n', namespace]
    expect(await front(...here, 'create', 'configmap', 'a', '--from-literal=k=v')).to.include({ code: 0 })
    const patch = '{"data":{"k":"w"}}'
    expect(await front(...here, 'patch', 'configmap', 'a', '--type=merge', '-p', patch)).to.include({
      code: 0,
    })
    expect(await kubectlOutput(...here, 'get', 'configmap', 'a', '-o', 'jsonpath={.data.k}')).to.equal('w')
    const manifest = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'b' },
      data: { x: 'y' },
    })
    const apply = [...frontArguments(token), ...here, 'apply', '--server-side', '-f', '-']
    expect(await run('kubectl', apply, { stdin: manifest })).to.include({
      stdout: 'configmap/b serverside-applied\n',
    })
    const create = ['create', 'deployment', 'd', '--image=none', '--replicas=0']
    expect(await front(...here, ...create)).to.include({ code: 0 })
    expect(await front(...here, 'scale', 'deployment', 'd', '--replicas=1')).to.include({ code: 0 })
    expect(await front(...here, 'delete', 'deployment/d', 'configmap/a', 'configmap/b')).to.include({
      code: 0,
    })
    expect(await front(...here, 'get', 'configmap', 'a')).to.include({ code: 1 })
  })

  it('transfers a megabyte in both directions', async () => {
    const data = 'x'.repeat(1_000_000)
    const manifest = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'big' },
      data: { data },
    })
    const create = [...frontArguments(token), '-n', namespace, 'create', '-f', '-']
    expect(await run('kubectl', create, { stdin: manifest })).to.include({ code: 0 })
    const { stdout } = await front('-n', namespace, 'get', 'configmap', 'big', '-o', 'jsonpath={.data.data}')
    expect(stdout.length).to.equal(data.length)
  })

  it('kubectl get -w prints changes', async () => {
    const watch = follow('kubectl', [
      ...frontArguments(token),
      '-n',
      namespace,
      'get',
      'configmaps',
      '-w',
      '-o',
      'name',
    ])
    try {
      await watch.line(line => line.includes('kube-root-ca.crt'))
      await kubectlOutput('-n', namespace, 'create', 'configmap', 'seen')
      await watch.line(line => line === 'configmap/seen')
    } finally {
      await watch.stop()
    }
  })

  it('kubectl exec runs a command with input and output', async () => {
    // `head` rather than `cat`: the simulated kubelet does not forward the end of input.
    const exec = [...frontArguments(token), 'exec', '-i', pod, '--', 'head', '-1']
    const spoken = await run('kubectl', exec, { stdin: 'there and back\n' })
    expect(spoken).to.include({ code: 0, stdout: 'there and back\n' })
    const fails = ['exec', pod, '--', 'sh', '-c', 'exit 7']
    expect(await front(...fails)).to.deep.equal(await direct(...fails))
  })

  it('kubectl exec works over SPDY, as older clients use it', async () => {
    const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' }
    const ran = await run('kubectl', [...frontArguments(token), 'exec', pod, '--', 'echo', 'spdy'], { env })
    expect(ran).to.include({ code: 0, stdout: 'spdy\n' })
  })

  it('kubectl logs prints the same', async () => {
    const args = ['logs', pod, '--tail=5']
    await eventually(async () => expect(await front(...args)).to.deep.equal(await direct(...args)), 20_000)
  })

  it('a service account without permissions has none, on any path', async () => {
    const unprivileged = frontArguments(await tokenOf(namespace, 'unprivileged'))
    const { code, stderr } = await run('kubectl', [...unprivileged, 'get', 'pods'])
    expect(code).to.equal(1)
    expect(stderr).to.include(
      `User "system:serviceaccount:${namespace}:unprivileged" cannot list resource "pods"`,
    )
    expect(await run('kubectl', [...unprivileged, 'exec', pod, '--', 'true'])).to.include({ code: 1 })
  })

  const claims: readonly (readonly [code: number, headers: Readonly<Record<string, string>>])[] = [
    [403, { 'impersonate-user': 'system:admin' }],
    [403, { 'impersonate-user': 'unprivileged', 'impersonate-group': 'system:masters' }],
    // Impersonating a group requires impersonating a user.
    [400, { 'impersonate-group': 'system:masters' }],
    [403, { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }],
  ]
  for (const [expected, headers] of claims) {
    it(`${Object.keys(headers).join(' and ')} by themselves grant no permission`, async () => {
      const authorization = `Bearer ${await tokenOf(namespace, 'unprivileged')}`
      const { code } = await sendToKapis('/api/v1/pods', { headers: { ...headers, authorization } })
      expect(code).to.equal(expected)
    })
  }

  it('kube-apiserver applies FlowSchemas for the caller, and not for Kapis', async () => {
    const name = uniqueName('flow')
    const subject = { kind: 'ServiceAccount', serviceAccount: { namespace, name: 'unprivileged' } }
    const rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }
    await apply({
      ...{ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', metadata: { name } },
      spec: {
        ...{ matchingPrecedence: 500, priorityLevelConfiguration: { name: 'workload-low' } },
        rules: [{ subjects: [subject], resourceRules: [rule] }],
      },
    })
    try {
      const uid = await kubectlOutput('get', 'flowschema', name, '-o', 'jsonpath={.metadata.uid}')
      const unprivileged = await tokenOf(namespace, 'unprivileged')
      const flowOf = async (bearer: string) =>
        (await sendAs(bearer, '/api/v1/namespaces/default')).headers['x-kubernetes-pf-flowschema-uid']
      await eventually(async () => expect(await flowOf(unprivileged)).to.equal(uid), 10_000)
      expect(await flowOf(token))
        .to.be.a('string')
        .that.does.not.equal(uid)
    } finally {
      await kubectl('delete', 'flowschema', name)
    }
  })

  it('a caller without credentials receives a challenge', async () => {
    const { code, headers } = await sendToKapis('/api/v1/pods')
    expect({ code, challenge: headers['www-authenticate'] }).to.deep.equal({
      code: 401,
      challenge: 'Bearer realm="kapis"',
    })
  })
})

function frontArguments(token: string): readonly string[] {
  const server = ['--server', setting('KAPIS_URL'), '--certificate-authority', setting('KAPIS_CA')]
  return ['--kubeconfig', '/dev/null', ...server, '--token', token]
}

import { expect } from 'chai'
import {
  accessToken,
  group,
  kubectl,
  kubectlOutput,
  makeNamespace,
  nodes,
  sendToKube,
  tokenOf,
  uniqueName,
  withToken,
} from './cluster.ts'
import { sendAs } from './http.ts'
import { run, setting } from './run.ts'

const namespace = uniqueName('access')

describe('access to the aggregated nodes', function () {
  this.timeout(60_000)

  before(async () => {
    await makeNamespace(namespace, ['reader', 'unprivileged', 'single'])
    await role('reader', '--verb=get,list,watch', `--resource=${nodes}`)
    const first = (await kubectlOutput('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')).trim()
    await role('single', '--verb=get,list', `--resource=${nodes}`, `--resource-name=${first}`)
  })

  after(async () => {
    for (const name of ['reader', 'single', 'unprivileged']) {
      await kubectl('delete', 'clusterrolebinding,clusterrole', `${namespace}-${name}`)
    }
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('is granted to a service account with the permission', async () => {
    const { code, stdout } = await as('reader', 'get', nodes, '-o', 'name')
    expect(code).to.equal(0)
    expect(stdout).to.match(new RegExp(`^(node\\.${group}/\\S+\n)+$`))
    // The result of can-i must match the responses to actual requests.
    expect(await as('reader', 'auth', 'can-i', 'list', nodes)).to.include({ stdout: 'yes\n' })
  })

  it('is denied to a service account without the permission', async () => {
    const user = `system:serviceaccount:${namespace}:unprivileged`
    const { code, stdout, stderr } = await as('unprivileged', 'get', nodes)
    expect([code, stdout]).to.deep.equal([1, ''])
    expect(stderr).to.equal(
      `Error from server (Forbidden): ${nodes} is forbidden: User "${user}" cannot list resource "nodes" in API group "${group}" at the cluster scope\n`,
    )
    const named = await as('unprivileged', 'get', nodes, 'some-node')
    expect(named.stderr).to.equal(
      `Error from server (Forbidden): ${nodes} "some-node" is forbidden: User "${user}" cannot get resource "nodes" in API group "${group}" at the cluster scope\n`,
    )
  })

  it('with a permission on one name includes lists of that name', async () => {
    const first = (await kubectlOutput('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')).trim()
    expect(await as('single', 'get', nodes, first, '-o', 'name')).to.include({ code: 0 })
    const selected = await as(
      'single',
      'get',
      nodes,
      '--field-selector',
      `metadata.name=${first}`,
      '-o',
      'name',
    )
    expect(selected).to.include({ code: 0, stdout: `node.${group}/${first}\n` })
    expect(await as('single', 'get', nodes)).to.include({ code: 1 })
  })

  it('with a read permission includes no write, with any method', async () => {
    const { stderr } = await as('reader', 'delete', nodes, 'some-node')
    expect(stderr).to.include('Error from server (Forbidden)')
  })

  it('is denied to an invalid token', async () => {
    const { code, stderr } = await run('kubectl', [...(await withToken('a.b.c')), 'get', nodes])
    expect(code).to.equal(1)
    expect(stderr).to.match(/You must be logged in|Unauthorized/)
  })

  it('is granted to an access token of the issuer, through kube-apiserver', async () => {
    const token = await accessToken()
    const signOn = await withToken(token)
    const listed = await run('kubectl', [...signOn, 'get', nodes, '-o', 'name'])
    expect(listed).to.include({ code: 0, stderr: '' })
    expect(listed.stdout).to.include(`node.${group}/`)
    const whoami = await run('kubectl', [
      ...signOn,
      'auth',
      'whoami',
      '-o',
      'jsonpath={.status.userInfo.username}',
    ])
    expect(whoami).to.include({ code: 0 })
    expect(whoami.stdout).to.include(setting('KAPIS_USER'))
  })

  it('is denied with 403, as in kube-apiserver, to an administrator who impersonates the anonymous user', async () => {
    await kubectlOutput(
      ...['create', 'clusterrolebinding', `${namespace}-unprivileged`, '--clusterrole=cluster-admin'],
      `--serviceaccount=${namespace}:unprivileged`,
    )
    const token = await tokenOf(namespace, 'unprivileged')
    const headers = { 'impersonate-user': 'system:anonymous' }
    for (const path of ['/api/v1/nodes', '/apis/apps/v1/deployments', '/api/v1/namespaces/default/pods/a']) {
      const direct = await sendToKube(token, path, { headers })
      const response = await sendAs(token, path, { headers })
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([direct.code, JSON.parse(direct.body)])
      expect(response.code).to.equal(403)
    }
    expect((await sendAs(token, `/kapis/${group}/v1alpha3/nodes`, { headers })).code).to.equal(403)
  })
})

async function role(name: string, ...rules: readonly string[]): Promise<void> {
  const whole = `${namespace}-${name}`
  await kubectlOutput('create', 'clusterrole', whole, ...rules)
  const subject = `--serviceaccount=${namespace}:${name}`
  await kubectlOutput('create', 'clusterrolebinding', whole, `--clusterrole=${whole}`, subject)
}

/** Runs kubectl as a service account of this test. */
async function as(name: string, ...args: readonly string[]) {
  const token = await tokenOf(namespace, name)
  return run('kubectl', [...(await withToken(token)), ...args])
}

import { setTimeout as sleep } from 'node:timers/promises'
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
  withToken,
} from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { follow, output, run } from './run.ts'

const prefix = uniqueName('team')
const home = `${prefix}-home`
const team = (n: number) => `${prefix}-${n}`
const base = `/kapis/${group}/${version}`
const names = `namespaces.${group}`

describe('visible namespaces', function () {
  this.timeout(90_000)

  let token = ''
  let caller: readonly string[] = []

  const bind = (namespace: string, role: string, kind = 'clusterrole') =>
    kubectlOutput(
      '-n',
      namespace,
      'create',
      'rolebinding',
      'two',
      `--${kind}=${role}`,
      `--serviceaccount=${home}:two`,
    )
  const listed = async (path: string) => {
    const response = await sendAs(token, `${path}?sortBy=name&ascending=true&fields=metadata.name`)
    expect(response.code, response.body).to.equal(200)
    const { items, totalItems } = JSON.parse(response.body)
    expect(totalItems).to.equal(items.length)
    return items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
  }
  const byKubectl = async (...args: readonly string[]) =>
    (
      await output('kubectl', [
        ...caller,
        'get',
        names,
        '--no-headers',
        '-o',
        'custom-columns=:metadata.name',
        ...args,
      ])
    )
      .split('\n')
      .filter(line => line !== '')

  before(async () => {
    await makeNamespace(home, ['two', 'none'])
    const items = Array.from({ length: 200 }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: team(i),
        labels: {
          [`${groupDomain}/workspace`]: `${prefix}-w${i % 2}`,
          test: prefix,
          odd: String(i % 2 === 1),
        },
      },
    }))
    const workspaces = ['w0', 'w1', 'own'].map(name => ({
      apiVersion: `tenant.${groupDomain}/v1alpha1`,
      kind: 'Workspace',
      metadata: { name: `${prefix}-${name}` },
      spec: { manager: name === 'own' ? `system:serviceaccount:${home}:two` : 'someone' },
    }))
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...items, ...workspaces] })
    await output('kubectl', ['apply', '-f', '-'], { stdin, timeoutMs: 60_000 })
    await bind(team(3), 'view')
    await bind(team(4), 'edit')
    token = await tokenOf(home, 'two')
    caller = await withToken(token)
  })

  after(async () => {
    await kubectl('delete', 'namespace', '-l', `test=${prefix}`, '--wait=false')
    await kubectl('delete', 'namespace', home, '--wait=false')
    for (const name of ['w0', 'w1', 'own'])
      await kubectl('delete', `workspaces.tenant.${groupDomain}`, `${prefix}-${name}`, '--ignore-not-found')
  })

  it('are not available in kube-apiserver itself', async () => {
    const { code, stderr } = await run('kubectl', [...caller, 'get', 'namespaces'])
    expect(code).to.equal(1)
    expect(stderr).to.contain('cannot list resource "namespaces"')
  })

  it('are those in which the caller has a permission, at /kapis and in kubectl', async () => {
    await eventually(async () => {
      expect(await listed(`${base}/namespaces`)).to.deep.equal([team(3), team(4)])
    }, 10_000)
    expect(await byKubectl()).to.deep.equal([team(3), team(4)])
    expect(await byKubectl('-l', 'odd=true')).to.deep.equal([team(3)])
    expect(await byKubectl('--chunk-size=1')).to.deep.equal([team(3), team(4)])
    expect(await byKubectl('--field-selector', `metadata.name=${team(5)}`)).to.deep.equal([])
  })

  it('hide all others with 404', async () => {
    for (const path of [`${base}/namespaces/${team(5)}`, `${base}/namespaces/${prefix}-none`]) {
      expect((await sendAs(token, path)).code).to.equal(404)
    }
    const { stderr } = await run('kubectl', [...caller, 'get', names, team(5)])
    expect(stderr).to.equal(`Error from server (NotFound): ${names} "${team(5)}" not found\n`)
  })

  it('are added to a watch with a role binding, and removed with it', async () => {
    const watch = follow('kubectl', [
      ...caller,
      'get',
      names,
      '-w',
      '--output-watch-events',
      '--no-headers',
      '-o',
      'custom-columns=:type,:object.metadata.name',
    ])
    const receives = (...expected: readonly string[]) =>
      eventually(async () => {
        expect(watch.lines.map(line => line.trim().split(/ +/).join(' '))).to.deep.equal(expected)
      }, 20_000)
    const first = [`ADDED ${team(3)}`, `ADDED ${team(4)}`]
    try {
      await receives(...first)
      await kubectlOutput('-n', team(7), 'create', 'role', 'looker', '--verb=get', '--resource=pods')
      await bind(team(7), 'looker', 'role')
      await receives(...first, `ADDED ${team(7)}`)
      await kubectlOutput('-n', team(3), 'delete', 'rolebinding', 'two')
      await receives(...first, `ADDED ${team(7)}`, `DELETED ${team(3)}`)
      // Events of invisible objects are not sent.
      await kubectlOutput('label', 'namespace', team(9), 'touched=yes')
      await kubectlOutput('label', 'namespace', team(4), 'touched=yes')
      await receives(...first, `ADDED ${team(7)}`, `DELETED ${team(3)}`, `MODIFIED ${team(4)}`)
      expect(await listed(`${base}/namespaces`)).to.deep.equal([team(4), team(7)])
    } finally {
      await watch.stop()
    }
  })

  it('are all added to a watch with a cluster role binding, and removed with it', async () => {
    const columns = ['-o', 'custom-columns=:type,:object.metadata.name']
    const begin = () =>
      follow('kubectl', [...caller, 'get', names, '-w', '--output-watch-events', '--no-headers', ...columns])
    const receives = (watch: ReturnType<typeof begin>, event: string) =>
      watch.line(line => line.trim().split(/ +/).join(' ') === event, 20_000)
    const narrow = begin()
    await receives(narrow, `ADDED ${team(4)}`)
    await kubectlOutput(
      'create',
      'clusterrolebinding',
      prefix,
      '--clusterrole=view',
      `--serviceaccount=${home}:two`,
    )
    try {
      await receives(narrow, `ADDED ${team(11)}`)
      expect(await listed(`${base}/namespaces`)).to.include(team(11))
      const wide = begin()
      try {
        await receives(wide, `ADDED ${team(11)}`)
        await kubectlOutput('delete', 'clusterrolebinding', prefix)
        await Promise.race([wide.ended, sleep(20_000).then(() => expect.fail('it did not end'))])
      } finally {
        await wide.stop()
      }
      expect(await listed(`${base}/namespaces`)).to.deep.equal([team(4), team(7)])
      await receives(narrow, `DELETED ${team(11)}`)
      await kubectlOutput('label', 'namespace', team(11), 'touched=again')
      await kubectlOutput('label', 'namespace', team(7), 'touched=again')
      await receives(narrow, `MODIFIED ${team(7)}`)
      expect(narrow.lines.filter(line => line.includes('MODIFIED') && line.includes(team(11)))).to.be.empty
    } finally {
      await narrow.stop()
      await kubectl('delete', 'clusterrolebinding', prefix, '--ignore-not-found')
    }
  })

  it('include a namespace that a caller may get by name', async () => {
    const name = team(12)
    const byName = ['--verb=get', '--resource=namespaces', `--resource-name=${name}`]
    await kubectlOutput('create', 'clusterrole', prefix, ...byName)
    await kubectlOutput(
      'create',
      'clusterrolebinding',
      prefix,
      `--clusterrole=${prefix}`,
      `--serviceaccount=${home}:two`,
    )
    try {
      await eventually(async () => {
        expect((await sendAs(token, `${base}/namespaces/${name}`)).code).to.equal(200)
      }, 15_000)
      expect(await byKubectl(name)).to.deep.equal([name])
      expect((await sendAs(token, `${base}/namespaces/${team(5)}`)).code).to.equal(404)
      expect(await listed(`${base}/namespaces`)).to.deep.equal([team(4), team(7)])
    } finally {
      await kubectl('delete', 'clusterrolebinding,clusterrole', prefix)
    }
  })

  it('determine the visible workspaces, next to those that the caller manages', async () => {
    await eventually(async () => {
      expect(await listed(`${base}/workspaces`)).to.deep.equal([
        `${prefix}-own`,
        `${prefix}-w0`,
        `${prefix}-w1`,
      ])
    }, 10_000)
    await kubectlOutput('-n', team(7), 'delete', 'rolebinding', 'two')
    await eventually(async () => {
      expect(await listed(`${base}/workspaces`)).to.deep.equal([`${prefix}-own`, `${prefix}-w0`])
    }, 10_000)
  })

  it('are the same for KubeSphere 3.4 consoles, which write with the permissions of the caller', async () => {
    const old = `/kapis/tenant.${groupDomain}/v1alpha2`
    const templates = `/kapis/tenant.${groupDomain}/v1alpha3/workspacetemplates`
    const own = `${prefix}-own`
    expect(await listed(templates)).to.deep.equal([own, `${prefix}-w0`])
    expect(await listed(`${old}/workspaces`)).to.deep.equal([own, `${prefix}-w0`])
    expect(await listed(`${old}/workspaces/${prefix}-w0/namespaces`)).to.deep.equal([team(4)])
    expect(await listed(`${old}/workspaces/${prefix}-w1/namespaces`)).to.deep.equal([])
    const others = `${old}/workspaces/${prefix}-w0/workspacemembers/admin/namespaces`
    expect((await sendAs(token, others)).code).to.equal(403)
    const write = async (as: string, method: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const response = await sendAs(as, path, { method, headers, body: JSON.stringify(body) })
      return { code: response.code, body: JSON.parse(response.body) }
    }
    const refused = await write(token, 'DELETE', `${templates}/${own}`, {})
    expect(refused.code, refused.body.message).to.equal(403)
    expect(refused.body.message).to.contain(`User "system:serviceaccount:${home}:two" cannot delete resource`)
    expect((await write(token, 'PUT', `${old}/workspaces/${own}/namespaces/${team(4)}`, {})).code).to.equal(
      404,
    )
    const admin = await accessToken()
    const made = await write(admin, 'POST', `${old}/workspaces/${own}/namespaces?dryRun=All`, {
      metadata: { name: `${prefix}-made` },
    })
    expect(made.code, JSON.stringify(made.body)).to.equal(201)
    expect(made.body.metadata.labels[`${groupDomain}/workspace`]).to.equal(own)
    const renamed = await sendAs(admin, `${templates}/${own}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ spec: { template: { spec: { description: 'ours' } } } }),
    })
    expect(JSON.parse(renamed.body).spec.template.spec).to.include({ description: 'ours' })
    // The manager can still read the current state.
    await eventually(async () => {
      const { body } = await sendAs(token, `${templates}/${own}`)
      expect(JSON.parse(body).spec.template.spec).to.include({ description: 'ours' })
    }, 10_000)
  })

  it('are none without permissions, and all for an administrator', async () => {
    const none = await sendAs(await tokenOf(home, 'none'), `${base}/namespaces`)
    expect(JSON.parse(none.body)).to.deep.equal({ items: [], totalItems: 0 })
    const all = await sendAs(await accessToken(), `${base}/namespaces?name=${prefix}&limit=1`)
    expect(JSON.parse(all.body).totalItems).to.equal(201)
  })
})

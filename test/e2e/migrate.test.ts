import { hash } from '@node-rs/bcrypt'
import { expect } from 'chai'
import { kubectlOutput, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { iamVersion, loginAs } from './oauth.ts'
import { type CommandResult, output, run, setting } from './run.ts'

const kinds = { users: 'User', groupbindings: 'GroupBinding', globalrolebindings: 'GlobalRoleBinding' }
const password = 'Migrated-1'

describe('kapis migrate users', function () {
  this.timeout(120_000)
  const from = `${uniqueName('old')}.example.org`
  const alice = uniqueName('alice')
  const bob = uniqueName('bob')
  const carol = uniqueName('carol')
  const target = `users.iam.${setting('KAPIS_GROUP_DOMAIN')}`

  before(async () => {
    await apply(...Object.entries(kinds).map(([plural, kind]) => definition(from, plural, kind)))
    const object = (kind: string, name: string, rest: object) => ({
      apiVersion: `iam.${from}/v1alpha2`,
      kind,
      metadata: { name },
      ...rest,
    })
    const password10 = await hash(password, 10)
    const objects = [
      object('User', alice, {
        metadata: { name: alice, annotations: { [`iam.${from}/globalrole`]: 'platform-admin' } },
        spec: {
          email: `${alice}@example.org`,
          displayName: 'Alice',
          password: password10,
          groups: ['system:masters', 'ops'],
        },
        status: { state: 'Active' },
      }),
      object('User', bob, {
        metadata: {
          name: bob,
          labels: { [`iam.${from}/identify-provider`]: 'corp', [`iam.${from}/origin-uid`]: 'uid-7' },
        },
        spec: { email: `${bob}@example.org` },
        status: { state: 'Disabled' },
      }),
      object('User', carol, { spec: { password: password10 } }),
      object('GroupBinding', 'devs', { groupRef: { kind: 'Group', name: 'devs' }, users: [alice, bob] }),
      object('GlobalRoleBinding', 'admins', {
        roleRef: { kind: 'GlobalRole', name: 'platform-admin' },
        subjects: [{ kind: 'User', name: alice }],
      }),
    ]
    await eventually(() => apply(...objects), 20_000)
  })

  after(async () => {
    await kubectlOutput('delete', target, alice, bob, '--ignore-not-found')
    const definitions = Object.keys(kinds).map(plural => `${plural}.iam.${from}`)
    await kubectlOutput('delete', 'crd', ...definitions, '--ignore-not-found', '--wait=false')
  })

  const remarks = {
    alice:
      'not in system:masters: reserved for Kubernetes, or not a valid group name; has the global role platform-admin: grant its permissions by RBAC',
    carol: 'has no e-mail address, which Kapis requires',
  }

  it('prints what it would do in a dry run, and does nothing', async () => {
    const { code, stdout, stderr } = await migrate()
    expect(rows(stdout)).to.deep.equal([
      ['NAME', 'ACTION', 'REMARKS'],
      [alice, 'create', remarks.alice],
      [bob, 'create'],
      [carol, 'refused', remarks.carol],
    ])
    expect([code, stderr]).to.deep.equal([1, 'nothing was written: --dry-run=none creates the users\n'])
    expect(await kubectlOutput('get', target, alice, bob, '--ignore-not-found', '-o', 'name')).to.equal('')
    expect(stdout).to.not.include('$2')
  })

  it('creates the users, who can log in with their existing passwords', async () => {
    const { code, stdout } = await migrate('--dry-run=none')
    expect(code).to.equal(1)
    expect(rows(stdout).map(([name, action]) => [name, action])).to.deep.equal([
      ['NAME', 'ACTION'],
      [alice, 'created'],
      [bob, 'created'],
      [carol, 'refused'],
    ])
    await eventually(() => loginAs({ username: alice, password }), 20_000)
    const made = JSON.parse(await kubectlOutput('get', target, alice, bob, '-o', 'json')).items
    expect(made[0]).to.deep.include({ apiVersion: iamVersion })
    expect(made[0].spec.groups).to.deep.equal(['devs', 'ops'].sort())
    const link = { [`iam.${setting('KAPIS_GROUP_DOMAIN')}/identity-provider.corp`]: 'uid-7' }
    expect(made[1].metadata.annotations).to.deep.include(link)
    expect(made[1].status.state).to.equal('Disabled')
  })

  it('is idempotent, and overwrites no later change', async () => {
    const patch = JSON.stringify({ spec: { displayName: 'Another' } })
    await kubectlOutput('patch', target, bob, '--type=merge', '-p', patch)
    const { stdout } = await migrate('--dry-run=none')
    expect(rows(stdout).map(([name, action]) => [name, action])).to.deep.equal([
      ['NAME', 'ACTION'],
      [alice, 'unchanged'],
      [bob, 'differs'],
      [carol, 'refused'],
    ])
    const name = await kubectlOutput('get', target, bob, '-o', 'jsonpath={.spec.displayName}')
    expect(name).to.equal('Another')
  })

  function migrate(...args: readonly string[]): Promise<CommandResult> {
    const domain = ['--group-domain', setting('KAPIS_GROUP_DOMAIN'), '--from', from]
    const env = { KUBECONFIG: setting('KUBECONFIG') }
    return run(process.execPath, ['cmd/kapis/main.ts', 'migrate', 'users', ...domain, ...args], { env })
  }
})

function rows(table: string): readonly (readonly string[])[] {
  return table
    .trimEnd()
    .split('\n')
    .map(line => line.trimEnd().split(/ {3,}/))
}

async function apply(...objects: readonly object[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  await output('kubectl', ['apply', '--server-side', '-f', '-'], { stdin: list })
}

/**
 * Returns a CRD like that of KubeSphere: cluster-scoped, with a less strict schema than that of
 * Kapis.
 */
function definition(domain: string, plural: string, kind: string): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.iam.${domain}` },
    spec: {
      group: `iam.${domain}`,
      scope: 'Cluster',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1alpha2',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
}

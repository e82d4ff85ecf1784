import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { kubectl, kubectlOutput, uniqueName } from './cluster.ts'
import { endsWithinSeconds, eventually, groupDomain, sendAs } from './http.ts'
import { createPerson, type KapisUser } from './kapis.ts'
import { createUser, removeUser } from './oauth.ts'
import { type CommandResult, scratch, setting } from './run.ts'

const username = uniqueName('cli')
const password = 'Correct horse 1'
const binding = uniqueName('cli-nodes')

describe('kapis login', function () {
  this.timeout(60_000)
  let person: KapisUser

  function succeeded(ran: CommandResult): CommandResult {
    expect(ran.code, ran.stderr).to.equal(0)
    return ran
  }
  const login = (...args: readonly string[]) =>
    person.kapis(['login', '--username', username, ...args], { stdin: `${password}\n` })
  const stored = () => JSON.parse(readFileSync(person.loginFile(), 'utf8'))
  const self = `/kapis/iam.${groupDomain}/v1alpha2/users/${username}`

  before(async () => {
    await createUser({ username, password })
    await kubectlOutput('create', 'clusterrole', binding, '--verb=get,list,watch', '--resource=nodes')
    await kubectlOutput(
      'create',
      'clusterrolebinding',
      binding,
      `--clusterrole=${binding}`,
      `--user=${username}`,
    )
    const first = createPerson('first')
    const send = () => first.kapis(['login', '-u', username, '--no-kubeconfig'], { stdin: `${password}\n` })
    await eventually(async () => void succeeded(await send()), 5_000)
  })
  beforeEach(() => {
    person = createPerson('person')
  })
  after(async () => {
    await kubectl('delete', 'clusterrolebinding,clusterrole', binding, '--ignore-not-found')
    await removeUser(username)
  })

  it('authenticates kubectl to kapis-apiserver', async () => {
    succeeded(await login())
    const nodes = succeeded(await person.kubectl('get', 'nodes', '-o', 'name')).stdout
    expect(nodes).to.equal(await kubectlOutput('get', 'nodes', '-o', 'name'))
    expect(
      succeeded(await person.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).stdout,
    ).to.equal(username)
    const refused = await person.kubectl('get', 'secrets')
    expect(refused.stderr).to.include(`User "${username}" cannot list resource "secrets"`)
  })

  it('authenticates kubectl to kube-apiserver itself', async () => {
    const ca = join(scratch, 'kube-apiserver-ca.crt')
    const path = 'jsonpath={.clusters[0].cluster.certificate-authority-data}'
    const encoded = await kubectlOutput('config', 'view', '--raw', '--minify', '--flatten', '-o', path)
    writeFileSync(ca, Buffer.from(encoded, 'base64'))
    succeeded(await login('--kube-server', setting('KUBE_URL'), '--kube-ca', ca, '--context', 'direct'))
    const config = JSON.parse(succeeded(await person.kubectl('config', 'view', '-o', 'json')).stdout)
    expect(config['current-context']).to.equal('direct')
    expect(config.clusters[0].cluster.server).to.equal(setting('KUBE_URL'))
    // kube-apiserver loads the keys of the issuer with a delay.
    await eventually(async () => {
      const who = await person.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
      expect(succeeded(who).stdout).to.equal(username)
    }, 15_000)
    succeeded(await person.kubectl('get', 'nodes'))
  })

  it('stores tokens in files that only the user can read', async () => {
    const { stdout, stderr } = succeeded(await login())
    const { accessToken, refreshToken } = stored()
    for (const secret of [password, accessToken, refreshToken]) {
      expect(stdout + stderr).to.not.include(secret)
      expect(readFileSync(person.kubeconfig, 'utf8')).to.not.include(secret)
    }
    expect(statSync(person.loginFile()).mode & 0o777).to.equal(0o600)
    expect(statSync(join(person.home, 'logins')).mode & 0o777).to.equal(0o700)
    expect(statSync(person.kubeconfig).mode & 0o777).to.equal(0o600)
  })

  it('preserves the rest of a kubeconfig', async () => {
    await person.kubectl('config', 'set-cluster', 'other', '--server=https://other.test')
    await person.kubectl('config', 'set-context', 'other', '--cluster=other', '--namespace=x')
    succeeded(await login('--context', 'mine'))
    succeeded(await login('--context', 'mine'))
    const config = JSON.parse(succeeded(await person.kubectl('config', 'view', '-o', 'json')).stdout)
    // In any order, since kubectl sorts the contexts.
    expect(config.contexts).to.have.deep.members([
      { name: 'other', context: { cluster: 'other', namespace: 'x', user: '' } },
      { name: 'mine', context: { cluster: 'mine', user: 'mine' } },
    ])
    expect(config.clusters).to.have.length(2)
    expect(config.users).to.have.length(1)
  })

  it('is an exec credential plugin of API version v1', async () => {
    succeeded(await login('--no-kubeconfig'))
    for (const args of [['get-token'], ['login', '--exec-credential']]) {
      const credential = JSON.parse(succeeded(await person.kapis(args)).stdout)
      const { accessToken, expiresAtMs } = stored()
      expect(credential).to.deep.equal({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        status: { token: accessToken, expirationTimestamp: toTime(expiresAtMs) },
      })
    }
  })

  it('is refreshed by one of many concurrent kubectl processes, and the others use the result', async () => {
    succeeded(await login())
    const old = stored()
    writeFileSync(person.loginFile(), JSON.stringify({ ...old, expiresAtMs: 0 }))
    const all = await Promise.all(
      Array.from({ length: 6 }, () => person.kubectl('get', 'nodes', '-o', 'name')),
    )
    for (const ran of all) succeeded(ran)
    const next = stored()
    expect(next.accessToken).to.not.equal(old.accessToken)
    expect(next.expiresAtMs).to.be.greaterThan(Date.now())
    // If both processes had refreshed the token, the second would have reused it, which ends the
    // login.
    writeFileSync(person.loginFile(), JSON.stringify({ ...next, expiresAtMs: 0 }))
    succeeded(await person.kubectl('get', 'nodes'))
  })

  it('ends with kapis logout: kapis-apiserver rejects the token within two seconds', async () => {
    succeeded(await login())
    const { accessToken } = stored()
    expect((await sendAs(accessToken, self)).code).to.equal(200)
    const ends: string[] = []
    for (const path of [
      '/api/v1/nodes?watch=true',
      `/kapis/resources.${groupDomain}/v1alpha3/namespaces?watch=true`,
    ])
      sendAs(accessToken, path).then(
        ({ code }) => ends.push(`${code}`),
        error => ends.push(error.code),
      )
    await sleep(500)
    expect(ends).to.deep.equal([])
    succeeded(await person.kapis(['logout']))
    const seconds = await eventually(
      async () => {
        expect((await sendAs(accessToken, self)).code).to.equal(401)
      },
      20_000,
      20,
    )
    expect(seconds).to.be.below(endsWithinSeconds)
    // Requests in progress with this login are aborted.
    await eventually(async () => expect(ends).to.deep.equal(['ECONNRESET', 'ECONNRESET']), 5_000)
    const refused = await person.kubectl('get', 'nodes')
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.match(
      /not logged in at https:\S+: run `kapis login --server https:\S+ --context \S+`\n/,
    )
    expect(succeeded(await person.kapis(['logout'])).stderr).to.include('Not logged in')
  })

  it('ends when the user is disabled: kubectl receives the reason', async () => {
    succeeded(await login())
    const { accessToken } = stored()
    const patch = (state: string) =>
      kubectlOutput(
        ...['patch', `users.iam.${groupDomain}`, username, '--subresource=status', '--type=merge'],
        ...['-p', JSON.stringify({ status: { state } })],
      )
    await patch('Disabled')
    try {
      const seconds = await eventually(
        async () => {
          expect((await sendAs(accessToken, self)).code).to.equal(401)
        },
        20_000,
        20,
      )
      expect(seconds).to.be.below(endsWithinSeconds)
      expect((await person.kubectl('get', 'nodes')).code).to.equal(1)
      writeFileSync(person.loginFile(), JSON.stringify({ ...stored(), expiresAtMs: 0 }))
      const refused = await person.kapis(['get-token'])
      expect([refused.code, refused.stderr]).to.satisfy(
        ([code, text]: [number, string]) =>
          code === 1 && /has ended: run `kapis login --server \S+ --context kapis`/.test(text),
      )
    } finally {
      await patch('Active')
    }
  })

  const wrong: readonly [string, readonly string[], string, number, string][] = [
    [
      'a wrong password',
      ['login', '-u', username],
      'wrong\n',
      1,
      'kapis login: failed to log in: incorrect password\n',
    ],
    ['a missing password', ['login', '-u', username], '', 1, 'kapis login: the password is empty\n'],
    [
      'two login methods together',
      ['login', '-u', username, '--device'],
      '',
      2,
      'kapis login: --device and --username are mutually exclusive\nRun `kapis help login` for its usage.\n',
    ],
    [
      'an invalid server URL',
      ['login', '--server', 'localhost'],
      '',
      2,
      'kapis login: invalid --server "localhost": expected https://host[:port]\nRun `kapis help login` for its usage.\n',
    ],
  ]
  for (const [what, args, stdin, code, stderr] of wrong) {
    it(`reports ${what}, and writes no file`, async () => {
      const ran = await person.kapis(args, { stdin })
      expect(ran).to.deep.equal({ code, stdout: '', stderr })
      expect(() => statSync(person.kubeconfig)).to.throw('ENOENT')
    })
  }

  it('does not continue at a server with an untrusted certificate', async () => {
    const ran = await person.kapis(['whoami', '--server', setting('KUBE_URL')])
    expect(ran.code).to.equal(1)
    const strange = await person.kapis(['login', '-u', username, '--server', setting('KUBE_URL')], {
      stdin: 'x\n',
    })
    expect([strange.code, strange.stdout]).to.deep.equal([1, ''])
    expect(strange.stderr).to.match(
      /^kapis login: failed to reach https:\S+: (self-signed|unable to).*: set --certificate-authority or KAPIS_CA to the file of its CA\n$/,
    )
  })
})

function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

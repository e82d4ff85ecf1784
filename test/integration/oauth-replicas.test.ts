import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect } from 'chai'
import { kubectl, kubectlJson, kubectlOutput, uniqueName } from '../e2e/cluster.ts'
import { claimsOf, createUser, removeUser, type Tokens } from '../e2e/oauth.ts'
import { scratch, setting } from '../e2e/run.ts'

const namespace = uniqueName('replicas')
const user = { username: uniqueName('replica-user'), password: 'Correct horse 1' }
const readyWithinMs = 20_000

type Answer = { readonly code: number; readonly body: string }
type Replica = { readonly child: ChildProcess; readonly socket: string; readonly log: () => string }

/** The environment says where the other listener keeps its keys, and it wins over a file. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KAPIS_')))

/** A token listener of its own, beside the one that runs: signing keys in `namespace`, users and logins shared. */
function start(name: string): Replica {
  const socket = join(scratch, `${name}.sock`)
  const config = join(scratch, `${name}.json`)
  writeFileSync(
    config,
    JSON.stringify({
      groupDomain: setting('KAPIS_GROUP_DOMAIN'),
      kubernetes: { kubeconfig: setting('KUBECONFIG'), namespace },
      oauth: { socket, issuer: 'https://replicas.test/oauth' },
    }),
  )
  const child = spawn(process.execPath, ['cmd/oauth/main.ts', '--config', config], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env,
  })
  let log = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    log += text
  })
  return { child, socket, log: () => log }
}

async function stop({ child }: Replica, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
  return child.exitCode
}

function ask({ socket }: Replica, path: string, form?: Readonly<Record<string, string>>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const method = form === undefined ? 'GET' : 'POST'
  const headers = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
  const req = request({ socketPath: socket, path, method, headers, agent: false }, async res => {
    resolve({ code: res.statusCode ?? 0, body: Buffer.concat(await res.toArray()).toString('utf8') })
  })
  req.on('error', reject)
  req.end(form === undefined ? undefined : String(new URLSearchParams(form)))
  return promise
}

async function ready(replica: Replica): Promise<Replica> {
  const deadline = Date.now() + readyWithinMs
  for (;;) {
    const code = await ask(replica, '/healthz').then(
      answer => answer.code,
      () => 0,
    )
    if (code === 200) return replica
    if (Date.now() > deadline || replica.child.exitCode !== null)
      throw new Error(`not ready: ${replica.log()}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

const client = { client_id: 'kapis', client_secret: 'kapis' }
const login = (replica: Replica) =>
  ask(replica, '/oauth/token', { grant_type: 'password', ...user, ...client })
const refresh = (replica: Replica, refresh_token: string) =>
  ask(replica, '/oauth/token', { grant_type: 'refresh_token', refresh_token, ...client })

async function tokens(answer: Promise<Answer>): Promise<Tokens> {
  const { code, body } = await answer
  expect(code, body).to.equal(200)
  return JSON.parse(body)
}

describe('two token listeners', function () {
  this.timeout(60_000)
  const running: Replica[] = []
  let a: Replica
  let b: Replica

  before(async () => {
    await createUser(user)
    // Started before there is a namespace for their keys: they wait for it.
    running.push(start('a'), start('b'))
    await new Promise(resolve => setTimeout(resolve, 1_500))
    await kubectlOutput('create', 'namespace', namespace)
    ;[a, b] = (await Promise.all(running.map(ready))) as [Replica, Replica]
  })

  after(async () => {
    await Promise.all(running.map(replica => stop(replica, 'SIGKILL')))
    await removeUser(user.username)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('agree on the keys when they start in the same moment', async () => {
    const keys = await Promise.all([a, b].map(async replica => (await ask(replica, '/oauth/keys')).body))
    expect(keys[0]).to.equal(keys[1])
    expect(JSON.parse(keys[0] ?? '').keys.map(({ alg }: { alg: string }) => alg)).to.deep.equal([
      'ES256',
      'RS256',
    ])
  })

  it('make no administrator where there are users', async () => {
    const secret = await kubectl('-n', namespace, 'get', 'secret', 'kapis-initial-admin')
    expect(secret.stderr).to.include('NotFound')
  })

  it('refresh each other’s logins', async () => {
    let { refresh_token } = await tokens(login(a))
    for (const replica of [b, a, b, b])
      refresh_token = (await tokens(refresh(replica, refresh_token))).refresh_token
  })

  it('give one and the same token to requests that reach both at once', async () => {
    const { refresh_token } = await tokens(login(a))
    const answers = await Promise.all([a, b, a, b].map(replica => tokens(refresh(replica, refresh_token))))
    expect(new Set(answers.map(answer => claimsOf(answer.refresh_token).jti)).size).to.equal(1)
  })

  it('log nobody out when they are killed', async () => {
    const { refresh_token } = await tokens(login(a))
    await stop(a, 'SIGKILL')
    const { refresh_token: next } = await tokens(refresh(b, refresh_token))
    // The socket that a left behind is in its way, and is removed.
    a = await ready(start('a'))
    running.push(a)
    await tokens(refresh(a, next))
  })

  it('do not take the socket of one that lives', async () => {
    const second = start('b')
    running.push(second)
    const [code] = await once(second.child, 'exit')
    expect(code).to.equal(1)
    expect(second.log()).to.include('another process listens on')
    await tokens(login(b))
  })

  it('end with 0 and finish what is under way', async () => {
    const c = await ready(start('c'))
    running.push(c)
    const answers = Array.from({ length: 3 }, () => login(c))
    await new Promise(resolve => setTimeout(resolve, 30))
    const code = await stop(c)
    expect(code).to.equal(0)
    for (const answer of answers) await tokens(answer)
  })

  it('take new keys as soon as the Secret has them', async () => {
    const { refresh_token } = await tokens(login(a))
    const before = JSON.parse((await ask(a, '/oauth/keys')).body).keys.length
    // What rotation writes: one more key. Here it is one that another namespace would have.
    const secret = Object(await kubectlJson('-n', namespace, 'get', 'secret', 'kapis-signing-keys'))
    const stored = JSON.parse(Buffer.from(secret.data['keys.json'], 'base64').toString('utf8'))
    const { generateKey } = await import('../../pkg/token/key-set.ts')
    const next = await generateKey('ES256', Math.floor(Date.now() / 1000))
    const data = { 'keys.json': Buffer.from(JSON.stringify([...stored, next])).toString('base64') }
    await kubectlOutput(
      ...['-n', namespace, 'patch', 'secret', 'kapis-signing-keys'],
      ...['--type=merge', '-p', JSON.stringify({ data })],
    )
    for (const replica of [a, b]) {
      await until(async () => JSON.parse((await ask(replica, '/oauth/keys')).body).keys.length === before + 1)
    }
    const { access_token } = await tokens(login(b))
    const header = JSON.parse(Buffer.from(access_token.split('.')[0] ?? '', 'base64url').toString('utf8'))
    expect(header.kid).to.equal(next.kid)
    // Signed with the old key.
    await tokens(refresh(a, refresh_token))
  })

  it('say every mistake of the configuration, and end with 1', async () => {
    const config = join(scratch, 'broken.json')
    writeFileSync(config, JSON.stringify({ groupDomain: '_', oauth: { issuer: 'x', accessTokenSeconds: 1 } }))
    const child = spawn(process.execPath, ['cmd/oauth/main.ts', '--config', config], { stdio: 'pipe', env })
    const closed = once(child, 'close')
    const said = Buffer.concat(await child.stderr.toArray()).toString('utf8')
    const [code] = await closed
    expect(code).to.equal(1)
    for (const path of ['groupDomain', 'oauth.issuer', 'oauth.accessTokenSeconds'])
      expect(said).to.match(new RegExp(`^ {2}${path}: must be `, 'm'))
  })
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 2_000
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('it has not come within two seconds')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

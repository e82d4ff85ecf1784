import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { kubectl, kubectlJson, kubectlOutput, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { claimsOf, createUser, removeUser, type Tokens } from './oauth.ts'
import { env, type HttpResponse, type Replica, ready, send, start as startReplica, stop } from './replica.ts'
import { scratch, setting } from './run.ts'

const namespace = uniqueName('replicas')
const user = { username: uniqueName('replica-user'), password: 'Correct horse 1' }
const start = (name: string) => startReplica(name, { namespace })

const client = { client_id: 'kapis', client_secret: 'kapis' }
const login = (replica: Replica) =>
  send(replica, '/oauth/token', { grant_type: 'password', ...user, ...client })
const refresh = (replica: Replica, refresh_token: string) =>
  send(replica, '/oauth/token', { grant_type: 'refresh_token', refresh_token, ...client })

async function tokens(response: Promise<HttpResponse>): Promise<Tokens> {
  const { code, body } = await response
  expect(code, body).to.equal(200)
  return JSON.parse(body)
}

describe('two replicas of kapis-oauth', function () {
  this.timeout(60_000)
  const running: Replica[] = []
  let a: Replica
  let b: Replica

  before(async () => {
    await createUser(user)
    // Both start before the namespace of their keys exists, and wait for it.
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

  it('create the same keys when they start at the same moment', async () => {
    const keys = await Promise.all([a, b].map(async replica => (await send(replica, '/oauth/keys')).body))
    expect(keys[0]).to.equal(keys[1])
    expect(JSON.parse(keys[0] ?? '').keys.map(({ alg }: { alg: string }) => alg)).to.deep.equal([
      'ES256',
      'RS256',
    ])
  })

  it('create no administrator if users exist', async () => {
    const secret = await kubectl('-n', namespace, 'get', 'secret', 'kapis-initial-admin')
    expect(secret.stderr).to.include('NotFound')
  })

  it('refresh each other’s sessions', async () => {
    let { refresh_token } = await tokens(login(a))
    for (const replica of [b, a, b, b])
      refresh_token = (await tokens(refresh(replica, refresh_token))).refresh_token
  })

  it('return the same token to concurrent requests at both', async () => {
    const { refresh_token } = await tokens(login(a))
    const responses = await Promise.all([a, b, a, b].map(replica => tokens(refresh(replica, refresh_token))))
    expect(new Set(responses.map(response => claimsOf(response.refresh_token).jti)).size).to.equal(1)
  })

  it('end no sessions when they are killed', async () => {
    const { refresh_token } = await tokens(login(a))
    await stop(a, 'SIGKILL')
    const { refresh_token: next } = await tokens(refresh(b, refresh_token))
    // Starting again removes the stale socket of a.
    a = await ready(start('a'))
    running.push(a)
    await tokens(refresh(a, next))
  })

  it('reject a token of a session that was deleted before they started', async () => {
    const [gone, kept] = [await tokens(login(a)), await tokens(login(a))]
    const { sid } = claimsOf(gone.access_token)
    await kubectlOutput('delete', `loginsessions.iam.${setting('KAPIS_GROUP_DOMAIN')}`, String(sid))
    // The clock skew must be 0, since all replicas run on one machine.
    const late = startReplica('late', { namespace, clockSkewSeconds: 0 })
    running.push(late)
    await ready(late)
    const isActive = async ({ access_token: token }: Tokens) =>
      JSON.parse((await send(late, '/oauth/introspect', { ...client, token })).body).active
    await eventually(async () => expect(await isActive(gone)).to.equal(false), 20_000)
    expect(await isActive(kept)).to.equal(true)
    await stop(late)
  })

  it('do not take over the socket of a running process', async () => {
    const second = start('b')
    running.push(second)
    const [code] = await once(second.child, 'exit')
    expect(code).to.equal(1)
    expect(second.log()).to.include('is in use by another process')
    await tokens(login(b))
  })

  it('complete requests in flight and exit with 0', async () => {
    const c = await ready(start('c'))
    running.push(c)
    const responses = Array.from({ length: 3 }, () => login(c))
    // When this request has a response, those sent before it are in progress.
    await send(c, '/healthz')
    const code = await stop(c)
    expect(code).to.equal(0)
    for (const response of responses) await tokens(response)
  })

  it('use new keys as soon as the Secret contains them', async () => {
    const { refresh_token } = await tokens(login(a))
    const before = JSON.parse((await send(a, '/oauth/keys')).body).keys.length
    // Adds a key, as a rotation does.
    const secret = Object(await kubectlJson('-n', namespace, 'get', 'secret', 'kapis-signing-keys'))
    const stored = JSON.parse(Buffer.from(secret.data['keys.json'], 'base64').toString('utf8'))
    const { generateKey } = await import('../../pkg/jwt/key-set.ts')
    const next = await generateKey('ES256', Math.floor(Date.now() / 1000))
    const data = { 'keys.json': Buffer.from(JSON.stringify([...stored, next])).toString('base64') }
    await kubectlOutput(
      ...['-n', namespace, 'patch', 'secret', 'kapis-signing-keys'],
      ...['--type=merge', '-p', JSON.stringify({ data })],
    )
    for (const replica of [a, b]) {
      await until(
        async () => JSON.parse((await send(replica, '/oauth/keys')).body).keys.length === before + 1,
      )
    }
    const { access_token } = await tokens(login(b))
    const header = JSON.parse(Buffer.from(access_token.split('.')[0] ?? '', 'base64url').toString('utf8'))
    expect(header.kid).to.equal(next.kid)
    // This refresh token is signed with the old key.
    await tokens(refresh(a, refresh_token))
  })

  it('allow a user one session if configured, on either replica', async () => {
    const options = { namespace, authentication: { multipleLogin: false } }
    const [c, d] = [startReplica('one-c', options), startReplica('one-d', options)]
    running.push(c, d)
    await Promise.all([ready(c), ready(d)])
    const first = await tokens(login(c))
    const second = await tokens(login(d))
    expect(await refresh(d, first.refresh_token)).to.include({ code: 400 })
    const { refresh_token } = await tokens(refresh(c, second.refresh_token))
    // Of several concurrent refreshes, one succeeds.
    const many = await Promise.all([c, d, c, d].map(replica => tokens(login(replica))))
    const responses = await Promise.all(many.map(each => refresh(c, each.refresh_token)))
    expect(responses.map(({ code }) => code).sort()).to.deep.equal([200, 400, 400, 400])
    expect(await refresh(c, refresh_token)).to.include({ code: 400 })
  })

  it('report every configuration error, and exit with 1', async () => {
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
    if (Date.now() > deadline) throw new Error('not received within two seconds')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

import { expect } from 'chai'
import { kubectl, kubectlJson, kubectlOutput, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { createUser, patchUser, removeUser } from './oauth.ts'
import { type HttpResponse, type Replica, ready, send, start, stop } from './replica.ts'

const namespace = uniqueName('lockout')
const password = 'Correct horse 1'
const settings = {
  namespace,
  authentication: {
    authenticateRateLimiterMaxTries: 3,
    authenticateRateLimiterMaxTriesPerAddress: 6,
    authenticateRateLimiterDurationSeconds: 8,
  },
}
const locked = { error: 'invalid_grant', error_description: 'auth rate limit exceeded' }
const incorrect = { error: 'invalid_grant', error_description: 'incorrect password' }

let addresses = 0
const anyAddress = () => `198.51.100.${(addresses++ % 250) + 1}`

function login(
  replica: Replica,
  username: string,
  secret: string,
  from = anyAddress(),
): Promise<HttpResponse> {
  const client = { client_id: 'kapis', client_secret: 'kapis' }
  return send(
    replica,
    '/oauth/token',
    { grant_type: 'password', username, password: secret, ...client },
    from,
  )
}

async function codes(requests: readonly Promise<HttpResponse>[]): Promise<Readonly<Record<number, number>>> {
  const counts: Record<number, number> = {}
  for (const { code, body } of await Promise.all(requests)) {
    expect(JSON.parse(body)).to.deep.equal(code === 429 ? locked : incorrect)
    counts[code] = (counts[code] ?? 0) + 1
  }
  return counts
}

async function untilCode(code: number, asked: () => Promise<HttpResponse>, withinMs: number): Promise<void> {
  await eventually(
    async () => {
      expect(await asked()).to.include({ code })
    },
    withinMs,
    50,
  )
}

async function fail(replica: Replica, username: string, times = 3, from?: string): Promise<void> {
  for (let i = 0; i < times; i++)
    expect((await login(replica, username, `wrong ${i}`, from)).code).to.equal(400)
}

describe('the lockout with two replicas of kapis-oauth', function () {
  this.timeout(60_000)
  const made: string[] = []
  const running: Replica[] = []
  let a: Replica
  let b: Replica

  async function newUser(): Promise<string> {
    const username = uniqueName(`lockout-${made.length}`)
    made.push(username)
    await createUser({ username, password })
    // Logs in by e-mail address: each attempt counts for the entered name until the replica knows
    // the user.
    const isKnown = (replica: Replica) => login(replica, `${username}@e2e.test`, password)
    for (const replica of [a, b])
      await eventually(async () => expect(await isKnown(replica)).to.include({ code: 200 }), 20_000, 1_000)
    return username
  }

  before(async () => {
    await kubectlOutput('create', 'namespace', namespace)
    running.push(start('lock-a', settings), start('lock-b', settings))
    ;[a, b] = (await Promise.all(running.map(ready))) as [Replica, Replica]
  })

  after(async () => {
    await Promise.all(running.map(replica => stop(replica, 'SIGKILL')))
    for (const username of made) await removeUser(username)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('checks no more passwords of a burst than may fail, for existing and unknown users', async () => {
    const username = await newUser()
    for (const name of [username, uniqueName('nonexistent')]) {
      const burst = Array.from({ length: 300 }, (_, i) => login(a, name, `guess ${i}`))
      expect(await codes(burst)).to.deep.equal({ 400: 3, 429: 297 })
    }
  })

  it('checks no more passwords of a burst across both replicas, for existing and unknown users', async () => {
    const username = await newUser()
    for (const name of [username, uniqueName('nonexistent')]) {
      const requests = Array.from({ length: 80 }, (_, i) => login(i % 2 === 0 ? a : b, name, `guess ${i}`))
      const right = [a, b].map(async replica => {
        await Promise.all(requests)
        return login(replica, name, password)
      })
      expect(await codes([...requests, ...right]), name).to.deep.equal({ 400: 3, 429: 79 })
    }
  })

  it('does not reveal more failures to an address than allowed, on any replica and with any names', async () => {
    const from = '203.0.113.77'
    const names = Array.from({ length: 20 }, (_, i) => uniqueName(`spray-${i}`))
    const requests = names.map((name, i) => login(i % 2 === 0 ? a : b, name, 'guess', from))
    expect(await codes(requests)).to.deep.equal({ 400: 6, 429: 14 })
    const after = [a, b].map(replica => login(replica, uniqueName('nonexistent'), 'guess', from))
    expect(await codes(after)).to.deep.equal({ 429: 2 })
  })

  it('rejects even the correct password with Retry-After, on both replicas, until it expires', async () => {
    const username = await newUser()
    await fail(a, username)
    const refused = await login(a, username, password)
    expect([refused.code, JSON.parse(refused.body)]).to.deep.equal([429, locked])
    expect(Number(refused.retryAfter)).to.be.within(1, 8)
    await untilCode(429, () => login(b, username, password), 2_000)
    await eventually(async () => {
      const { status } = Object(await kubectlJson('get', 'users', username))
      expect(status.state).to.equal('AuthLimitExceeded')
      expect(status.reason).to.equal('Failed login attempts exceed 3 in last 8s')
    }, 3_000)
    for (const replica of [a, b]) await untilCode(200, () => login(replica, username, password), 15_000)
    await eventually(async () => {
      const { status } = Object(await kubectlJson('get', 'users', username))
      expect(status.state).to.equal('Active')
    }, 10_000)
  })

  it('locks an unknown name on both replicas', async () => {
    const name = uniqueName('nonexistent')
    await fail(a, name)
    await untilCode(429, () => login(b, name, 'x'), 3_000)
  })

  it('is ended by an administrator on every replica', async () => {
    const username = await newUser()
    await fail(a, username)
    await eventually(async () => {
      const { status } = Object(await kubectlJson('get', 'users', username))
      expect(status.state).to.equal('AuthLimitExceeded')
    }, 3_000)
    await patchUser(username, { status: { state: 'Active' } }, '--subresource=status')
    for (const replica of [a, b]) await untilCode(200, () => login(replica, username, password), 3_000)
  })

  it('locks only the address that tries many names', async () => {
    const username = await newUser()
    const from = '203.0.113.9'
    for (let i = 0; i < 2; i++) await fail(a, uniqueName(`many-${i}`), 3, from)
    expect((await login(a, username, password, from)).code).to.equal(429)
    expect((await login(a, username, password)).code).to.equal(200)
    // The log record for monitoring has a reason and a count.
    const event = {
      level: 'info',
      program: 'kapis-oauth',
      audit: 'lock',
      sourceIp: from,
      reason: 'too_many_failures',
      msg: 'source address locked',
    }
    await eventually(async () => {
      const lines = a
        .log()
        .split('\n')
        .filter(line => line.includes(event.msg) && line.includes(from))
      expect(lines.map(line => ({ ...JSON.parse(line), time: '' }))).to.deep.equal([{ ...event, time: '' }])
    }, 20_000)
    const { body } = await send(a, '/metrics')
    expect(body).to.match(/^kapis_login_locks_total\{kind="address"\} [1-9]/m)
  })

  it('survives a restart', async () => {
    const username = await newUser()
    // Restarting takes longer than the short locks of the other tests, so this lock is longer.
    await Promise.all([a, b].map(replica => stop(replica, 'SIGKILL')))
    const { authentication } = settings
    const long = { ...authentication, authenticateRateLimiterDurationSeconds: 600 }
    const startLong = async () => {
      const replica = await ready(start('lock-c', { ...settings, authentication: long }))
      running.push(replica)
      return replica
    }
    const c = await startLong()
    await fail(c, username)
    // Login records are written after the responses.
    await eventually(async () => {
      const selector = `iam.${process.env.KAPIS_GROUP_DOMAIN}/user-ref=${username}`
      const { items } = Object(
        await kubectlJson('get', 'loginrecords', '-l', selector, '--field-selector', 'spec.success=false'),
      )
      expect(items).to.have.length(3)
    }, 20_000)
    await stop(c, 'SIGKILL')
    expect((await login(await startLong(), username, password)).code).to.equal(429)
  })
})

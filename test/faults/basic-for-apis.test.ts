import { expect } from 'chai'
import { accessToken, type HttpResponse, kubectl, sendToKapis, uniqueName } from '../e2e/cluster.ts'
import { eventually, groupDomain, sendAs } from '../e2e/http.ts'
import { createUser, removeUser } from '../e2e/oauth.ts'
import { type Replica, startReplica } from './replica.ts'

const password = 'Correct horse 1'
const another = 'Correct horse 2'
const own = `/kapis/iam.${groupDomain}/v1alpha2/users`

/** User name and password by HTTP Basic, as the SDK of KubeSphere sends them. */
describe('HTTP Basic on the APIs', function () {
  this.timeout(120_000)
  const username = uniqueName('basic')
  let on: Replica
  let admin: string

  before(async () => {
    await createUser({ username, password })
    admin = await accessToken()
    on = await startReplica({
      config: { authentication: { basicForApis: true, authenticateRateLimiterMaxTries: 3 } },
    })
  })
  after(async () => {
    await on?.stop()
    await removeUser(username)
    await kubectl('delete', 'loginrecords', '-l', `iam.${groupDomain}/user-ref=${username}`)
  })

  function send(path: string, secret: string, url = on.url): Promise<HttpResponse> {
    const authorization = `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`
    return sendToKapis(`${url}${path}`, { headers: { authorization } })
  }
  const change = (path: string, body: object) =>
    sendAs(admin, `${own}/${username}${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it('authenticates the user, for the platform API and proxied paths', async () => {
    await eventually(async () => {
      const { code, body } = await send(`${own}/${username}`, password)
      expect(code, body).to.equal(200)
    }, 10_000)
    const { code, body } = await send('/api/v1/secrets', password)
    expect([code, JSON.parse(body).message]).to.deep.equal([
      403,
      `secrets is forbidden: User "${username}" cannot list resource "secrets" in API group "" at the cluster scope`,
    ])
  })

  it('is off by default, and for all other paths', async () => {
    const { code, headers } = await sendToKapis(`${own}/${username}`, {
      headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
    })
    expect([code, headers['www-authenticate']]).to.deep.equal([401, 'Bearer realm="kapis"'])
    expect((await send('/metrics', password)).code).to.be.oneOf([401, 403])
  })

  it('is offered only to clients that have sent it', async () => {
    const wrong = await send(`${own}/${username}`, 'wrong')
    expect([wrong.code, wrong.headers['www-authenticate']]).to.deep.equal([
      401,
      'Basic realm="kapis", charset="UTF-8"',
    ])
    expect((await sendToKapis(`${on.url}${own}/${username}`)).headers['www-authenticate']).to.equal(
      'Bearer realm="kapis"',
    )
  })

  it('is rejected from a cross-site page, for which a browser may send it', async () => {
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const from = (headers: Readonly<Record<string, string>>, path = `${own}/${username}`) =>
      sendToKapis(`${on.url}${path}`, { headers: { authorization, ...headers } })
    const upgrade = {
      ...{ connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    expect((await from({ 'sec-fetch-site': 'same-origin' })).code).to.equal(200)
    for (const response of [
      await from({ 'sec-fetch-site': 'cross-site' }),
      await from({ origin: 'https://evil.test' }),
      await from({ origin: 'https://evil.test', ...upgrade }, '/api/v1/namespaces?watch=true'),
    ])
      expect([response.code, JSON.parse(response.body).message]).to.deep.equal([
        403,
        'HTTP Basic is not accepted from a page of another origin',
      ])
  })

  it('ends with a password change, and when the user is disabled', async () => {
    expect((await send(`${own}/${username}`, password)).code).to.equal(200)
    expect((await change('/password', { password: another })).code).to.equal(200)
    await eventually(
      async () => expect((await send(`${own}/${username}`, another)).code).to.equal(200),
      10_000,
    )
    expect((await change('/status', { status: { state: 'Disabled' } })).code).to.equal(200)
    await eventually(
      async () => expect((await send(`${own}/${username}`, another)).code).to.equal(401),
      10_000,
    )
    expect((await change('/status', { status: { state: 'Active' } })).code).to.equal(200)
    await eventually(
      async () => expect((await send(`${own}/${username}`, another)).code).to.equal(200),
      10_000,
    )
  })

  it('locks as logins do, and reports for how long', async () => {
    const responses: HttpResponse[] = []
    for (let i = 0; i < 6; i++) responses.push(await send(`${own}/${username}`, `wrong ${i}`))
    const last = responses.at(-1)
    expect(last?.code, last?.body).to.equal(429)
    expect(Number(last?.headers['retry-after'])).to.be.greaterThan(0)
  })
})

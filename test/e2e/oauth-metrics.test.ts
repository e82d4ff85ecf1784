import { expect } from 'chai'
import { accessToken, kubectl, makeNamespace, sendToKapis, tokenOf, uniqueName } from './cluster.ts'
import { eventually, expectStatus, sendAs, statusBody } from './http.ts'
import { createUser, loginAs, refresh, removeUser, token } from './oauth.ts'

describe('/metrics/oauth', function () {
  this.timeout(60_000)
  const namespace = uniqueName('metrics')
  const user = { username: uniqueName('counted'), password: uniqueName('Passw0rd') }
  let collector = ''

  before(async () => {
    await makeNamespace(namespace, ['collector', 'plain'])
    const subject = `--serviceaccount=${namespace}:collector`
    await kubectl('create', 'clusterrolebinding', namespace, '--clusterrole=kapis:metrics-reader', subject)
    await createUser(user)
    collector = await tokenOf(namespace, 'collector')
    await eventually(
      async () => expect((await sendAs(collector, '/metrics/oauth')).code).to.equal(200),
      20_000,
    )
  })
  after(async () => {
    await removeUser(user.username)
    await kubectl('delete', 'clusterrolebinding', namespace)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  /** Returns the sum of the series that match `pattern`. */
  async function count(path: string, pattern: RegExp): Promise<number> {
    const { code, body } = await sendAs(collector, path)
    expect(code, body).to.equal(200)
    return body
      .split('\n')
      .filter(line => pattern.test(line))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }

  const failed = /^kapis_logins_total\{.*result="failure"/
  const wrong = /^kapis_oauth_token_requests_total\{grant="password",outcome="wrong_password"\}/
  const refreshed = /^kapis_oauth_token_requests_total\{grant="refresh_token",outcome="success"\}/

  it('counts wrong passwords and refreshes, which /metrics of kapis-apiserver does not', async () => {
    const login = await loginAs(user)
    const before = await Promise.all([failed, wrong, refreshed].map(what => count('/metrics/oauth', what)))
    const atFront = await count('/metrics', failed)
    const refused = await token({ grant_type: 'password', username: user.username, password: 'wrong' })
    expect([refused.code, JSON.parse(refused.body).error]).to.deep.equal([400, 'invalid_grant'])
    expect((await refresh(login.refresh_token)).code).to.equal(200)
    const after = await Promise.all([failed, wrong, refreshed].map(what => count('/metrics/oauth', what)))
    expect(after).to.deep.equal(before.map(value => value + 1))
    expect(await count('/metrics', failed)).to.equal(atFront)
  })

  it('is in Prometheus’ text format, and contains no token and no password', async () => {
    const { body, headers } = await sendAs(collector, '/metrics/oauth')
    expect(headers['content-type']).to.match(/^text\/plain; version=0\.0\.4/)
    expect(body).to.match(/^# TYPE kapis_identity_provider_usable gauge$/m)
    expect(body).to.match(/^kapis_password_hashes_pending \d+$/m)
    expect(body).to.match(/^process_resident_memory_bytes \d+$/m)
    expect(body).to.not.match(/eyJ[\w-]{10}/)
    for (const secret of [collector, user.password, user.username]) expect(body).to.not.include(secret)
  })

  it('requires permission', async () => {
    const name = `system:serviceaccount:${namespace}:plain`
    const refused = await sendAs(await tokenOf(namespace, 'plain'), '/metrics/oauth')
    const message = `forbidden: User "${name}" cannot get path "/metrics/oauth"`
    expectStatus(refused, statusBody(403, 'Forbidden', message, {}))
    expect((await sendToKapis('/metrics/oauth')).code).to.be.oneOf([401, 403])
  })

  it('is read-only, and has no other path', async () => {
    const admin = await accessToken()
    const { code, headers } = await sendAs(admin, '/metrics/oauth', { method: 'POST', body: '{}' })
    expect([code, headers.allow]).to.deep.equal([405, 'GET'])
    for (const path of ['/oauth/metrics', '/metrics/oauth/', '/metrics/oauth/keys'])
      expect((await sendAs(admin, path)).code, path).to.equal(404)
  })
})

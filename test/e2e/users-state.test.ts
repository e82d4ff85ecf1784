import { expect } from 'chai'
import { accessToken, type HttpResponse, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { createUser, loginAs, parseResponse, patchUser, removeUser, token } from './oauth.ts'

const group = `iam.${groupDomain}`
const base = `/kapis/${group}/v1alpha2/users`

/** The complete response of PUT /users/{user}/status, and the result of a login in each state. */
describe('the state of a user', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('state'), password: 'Correct horse 1' }
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
  let admin: string

  before(async () => {
    admin = await accessToken()
    await createUser(user)
    await loginAs(user)
  })
  after(() => removeUser(user.username))

  const write = (path: string, body: object): Promise<HttpResponse> =>
    sendAs(admin, `${base}/${user.username}/${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const put = (state: string) => write('status', { status: { state } })
  const login = () => token({ grant_type: 'password', ...user })
  const invalidGrant = (error_description: string) => ({ error: 'invalid_grant', error_description })

  function expectUser(response: HttpResponse, state: string, reason: string): void {
    expect(response.code, response.body).to.equal(200)
    const { metadata, ...shown } = JSON.parse(response.body)
    const { lastTransitionTime, lastLoginTime, ...status } = shown.status
    expect({ ...shown, status }).to.deep.equal({
      kind: 'User',
      apiVersion: `${group}/v1alpha2`,
      spec: { email: `${user.username}@e2e.test` },
      status: { state, reason },
    })
    expect(lastTransitionTime).to.match(time)
    expect(metadata).to.include({
      name: user.username,
      selfLink: `/apis/${group}/v1alpha2/users/${user.username}`,
    })
  }

  it('Disabled prevents logins, and Active allows them again', async () => {
    expectUser(await put('Disabled'), 'Disabled', 'Disabled by an administrator')
    await eventually(
      async () =>
        expect(parseResponse(await login())).to.deep.equal([400, invalidGrant('account is not active')]),
      20_000,
    )
    expectUser(await put('Active'), 'Active', '')
    await eventually(async () => expect(await login()).to.include({ code: 200 }), 20_000)
  })

  it('does not change in a dry run, nor does the password', async () => {
    const tried = await write('status?dryRun=All', { status: { state: 'Disabled' } })
    expectUser(tried, 'Disabled', 'Disabled by an administrator')
    const set = await write('password?dryRun=All', { password: 'Another horse 1' })
    expect(set).to.include({ code: 200 })
    const { status } = JSON.parse((await sendAs(admin, `${base}/${user.username}`)).body)
    expect(status.state).to.equal('Active')
    expect(await login()).to.include({ code: 200 })
  })

  it('AuthLimitExceeded contains when to try again, and can be ended by an administrator', async () => {
    await patchUser(user.username, { status: { state: 'AuthLimitExceeded' } }, '--subresource=status')
    const locked = [429, invalidGrant('auth rate limit exceeded')]
    const response = await eventuallyLocked()
    expect(parseResponse(response)).to.deep.equal(locked)
    expect(Number(response.headers['retry-after'])).to.be.greaterThan(0)
    expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expectUser(await put('Active'), 'Active', '')
    await eventually(async () => expect(await login()).to.include({ code: 200 }), 20_000)
  })

  async function eventuallyLocked(): Promise<HttpResponse> {
    let response = await login()
    await eventually(async () => {
      response = await login()
      expect(response.code).to.equal(429)
    }, 20_000)
    return response
  }
})

import { expect } from 'chai'
import type { UserAgent } from '../peers/user-agent.ts'
import { kubectlJson, kubectlOutput, uniqueName } from './cluster.ts'
import { claimsOf, createUser, form, loginAs, parseResponse, removeUser, uidOfUser } from './oauth.ts'
import { csrfOf, logInBrowser } from './oauth-browser.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'
import { setting } from './run.ts'

/** The final results of a device login (RFC 8628 section 3.5), each with the complete response. */
describe('a device login', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('device'), password: 'Correct horse 1' }
  const client = { name: uniqueName('device-client'), public: true, redirectURIs: [] }
  const other = { ...client, name: uniqueName('other-device') }
  let agent: UserAgent

  before(async () => {
    await createUser(user, { groups: ['e2e-device'] })
    for (const each of [client, other]) await createClient(each)
    await loginAs(user)
    agent = await logInBrowser(user)
  })
  after(async () => {
    await removeUser(user.username)
    for (const { name } of [client, other]) await removeClient(name)
  })

  type Device = { readonly device_code: string; readonly user_code: string }
  async function start(scope = ''): Promise<Device> {
    const response = await form('/oauth/device_authorization', { client_id: client.name, scope })
    expect(response.code, response.body).to.equal(200)
    return JSON.parse(response.body)
  }
  const poll = (device_code: string, client_id = client.name) =>
    form('/oauth/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id,
      device_code,
    })
  async function decide({ user_code }: Device, decision: string): Promise<void> {
    const page = await agent.open(`${await issuerUrl()}/device?user_code=${user_code}`)
    const fields = { csrf: csrfOf(page), user_code, username: user.username, decision }
    expect(await agent.submit(page, fields)).to.include({ code: 200 })
  }
  const gone = [400, { error: 'expired_token', error_description: 'the device code has expired or was used' }]

  it('returns the complete response once after its user approves', async () => {
    const device = await start('openid email')
    await decide(device, 'allow')
    const response = await poll(device.device_code)
    const { access_token, refresh_token, id_token, ...rest } = JSON.parse(response.body)
    expect([response.code, rest]).to.deep.equal([
      200,
      { token_type: 'Bearer', expires_in: 7200, scope: 'openid email' },
    ])
    expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const iss = await issuerUrl()
    const { iat, exp, jti, sid, auth_time, ...claims } = claimsOf(access_token)
    expect(claims).to.deep.equal({
      iss,
      sub: user.username,
      username: user.username,
      aud: [setting('KAPIS_GROUP_DOMAIN')],
      client_id: client.name,
      scope: 'openid email',
      uid: await uidOfUser(user.username),
      groups: ['e2e-device'],
      amr: ['pwd'],
      acr: 'sfa',
      token_type: 'access_token',
    })
    expect(auth_time).to.equal(claimsOf(id_token).auth_time)
    expect(claimsOf(refresh_token)).to.deep.include({ sid, aud: [iss], token_type: 'refresh_token' })
    expect(claimsOf(id_token)).to.deep.include({
      sid,
      iss,
      aud: client.name,
      sub: user.username,
      email: `${user.username}@e2e.test`,
    })
    // Waits for the interval: a device that polls too early gets slow_down in every state.
    await new Promise(resolve => setTimeout(resolve, 5_100))
    expect(parseResponse(await poll(device.device_code))).to.deep.equal(gone)
  })

  it('is denied when its user denies it', async () => {
    const device = await start()
    await decide(device, 'deny')
    expect(parseResponse(await poll(device.device_code))).to.deep.equal([
      400,
      { error: 'access_denied', error_description: 'the user denied access' },
    ])
  })

  it('ends when its tokens have been fetched', async () => {
    const device = await start()
    const { items } = Object(await kubectlJson('get', 'deviceauthorizations'))
    const mine = items.filter((each: { spec: { clientId: string } }) => each.spec.clientId === client.name)
    expect(mine).to.have.length(1)
    await kubectlOutput('delete', 'deviceauthorization', mine[0].metadata.name)
    expect(parseResponse(await poll(device.device_code))).to.deep.equal(gone)
  })

  it('can be completed only by the client that started it', async () => {
    const { device_code } = await start()
    const invalidGrant = (error_description: string) => [400, { error: 'invalid_grant', error_description }]
    expect(parseResponse(await poll(device_code, other.name))).to.deep.equal(
      invalidGrant('the device code was issued to another client'),
    )
    expect(parseResponse(await poll('garbage'))).to.deep.equal(invalidGrant('the device code is invalid'))
    expect(parseResponse(await poll(''))).to.deep.equal([
      400,
      { error: 'invalid_request', error_description: 'the parameter device_code is required' },
    ])
    expect(parseResponse(await poll(device_code))).to.deep.equal([400, { error: 'authorization_pending' }])
  })
})

import { expect } from 'chai'
import { createBrowser, hiddenFieldsOf, locationOf } from '../../pkg/oauth/browser/fixtures.ts'
import { kubectl, kubectlJson, kubectlOutput, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { claimsOf, createUser, patchUser, removeUser } from './oauth.ts'
import { alternating, type Replica, ready, send, start, stop } from './replica.ts'
import { output, setting } from './run.ts'

const domain = setting('KAPIS_GROUP_DOMAIN')
const namespace = uniqueName('browsers')
const user = { username: uniqueName('browser-user'), password: 'Correct-Horse-1' }
const client = { client_id: 'web', client_secret: 's' }
const redirectUri = 'https://app.test/cb'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

describe('a browser with two replicas of kapis-oauth', function () {
  this.timeout(90_000)
  const running: Replica[] = []
  let a: Replica
  let b: Replica

  before(async () => {
    await createUser(user)
    await kubectlOutput('create', 'namespace', namespace)
    const type = `config.${domain}/oauthclient`
    const document = { name: client.client_id, secret: client.client_secret, redirectURIs: [redirectUri] }
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'web', namespace, labels: { [`config.${domain}/type`]: 'oauthclient' } },
      type,
      stringData: { 'configuration.yaml': JSON.stringify(document) },
    }
    await output('kubectl', ['apply', '-f', '-'], { stdin: JSON.stringify(secret) })
    running.push(start('browser-a', { namespace }), start('browser-b', { namespace }))
    ;[a, b] = (await Promise.all(running.map(ready))) as [Replica, Replica]
  })
  after(async () => {
    await Promise.all(running.map(replica => stop(replica, 'SIGKILL')))
    await removeUser(user.username)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  const authorize = `/oauth/authorize?${new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
  })}`
  const exchange = (replica: Replica, code: string) =>
    send(replica, '/oauth/token', {
      ...client,
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
    })

  async function logIn() {
    const browser = createBrowser(alternating([a, b]))
    const response = await browser.logIn(user.username, user.password)
    expect([response.code, response.headers.location]).to.deep.equal([303, '/oauth/session'])
    return browser
  }

  it('is logged in on both after a login at one', async () => {
    const browser = await logIn()
    for (let i = 0; i < 4; i++) expect((await browser.get('/oauth/session')).code).to.equal(200)
  })

  it('receives tokens for a code from either replica once, and loses the session if it sends the code to both', async () => {
    const browser = await logIn()
    const codeOf = async () => locationOf(await browser.get(authorize)).searchParams.get('code') ?? ''
    const once = await codeOf()
    expect((await exchange(a, once)).code).to.equal(200)
    const again = await exchange(b, once)
    expect([again.code, JSON.parse(again.body).error]).to.deep.equal([400, 'invalid_grant'])
    const code = await codeOf()
    const responses = await Promise.all([exchange(a, code), exchange(b, code)])
    expect(responses.map(response => response.code).sort()).to.deep.equal([200, 400])
    const sid = String(claimsOf(code).jti)
    const session = (await kubectlJson('get', `loginsessions.iam.${domain}`, sid)) as {
      spec: { ended: string }
    }
    expect(session.spec.ended).to.equal('authorization code used twice')
  })

  it('approves a device that started at the other replica', async () => {
    const begun = JSON.parse((await send(a, '/oauth/device_authorization', client)).body)
    const poll = (replica: Replica) =>
      send(replica, '/oauth/token', { ...client, grant_type: deviceGrant, device_code: begun.device_code })
    expect(JSON.parse((await poll(a)).body)).to.deep.equal({ error: 'authorization_pending' })
    expect(JSON.parse((await poll(a)).body)).to.deep.equal({ error: 'slow_down' })
    const browser = await logIn()
    const entry = await browser.get('/oauth/device')
    const fields = { ...hiddenFieldsOf(entry.body), user_code: begun.user_code }
    const asked = await browser.post('/oauth/device', fields)
    await browser.post('/oauth/device', { ...hiddenFieldsOf(asked.body), decision: 'allow' })
    const response = await poll(b)
    expect(response.code, response.body).to.equal(200)
    expect(claimsOf(JSON.parse(response.body).access_token)).to.include({
      sub: user.username,
      client_id: 'web',
    })
    // The state of the waiting login has been deleted.
    const devices = (await kubectlJson('get', `deviceauthorizations.iam.${domain}`)) as {
      items: readonly { spec: { user?: string } }[]
    }
    expect(devices.items.filter(({ spec }) => spec.user === user.username)).to.deep.equal([])
  })

  it('is logged out on both within two seconds after its user is disabled', async () => {
    const browser = await logIn()
    await patchUser(user.username, { status: { state: 'Disabled' } }, '--subresource=status')
    await eventually(async () => {
      for (let i = 0; i < 2; i++) expect((await browser.get('/oauth/session')).code).to.equal(302)
    }, 2_000)
    await patchUser(user.username, { status: { state: 'Active' } }, '--subresource=status')
    // The login remains ended.
    await eventually(async () => {
      const sessions = (await kubectlJson('get', `loginsessions.iam.${domain}`)) as {
        items: readonly { spec: { user: string; type?: string; ended?: string } }[]
      }
      const open = sessions.items.filter(({ spec }) => spec.user === user.username && !spec.ended)
      expect(open).to.deep.equal([])
    }, 10_000)
  })
})

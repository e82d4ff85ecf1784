import { expect } from 'chai'
import { uniqueName } from './cluster.ts'
import { eventually, expectStatus, groupDomain, statusBody } from './http.ts'
import { bearer, claimsOf, createUser, credentials, loginAs, parseResponse, removeUser } from './oauth.ts'
import { logInBrowser, redirectUri, responseTo } from './oauth-browser.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'
import { type HttpResponse, type Replica, ready, send, start, stop } from './replica.ts'
import { setting } from './run.ts'

type TokenPair = { readonly access_token: string; readonly refresh_token: string }

/** Tests `multipleLogin: false` in a kapis-oauth with the signing keys of kapis-apiserver. */
describe('a user who may have one session', function () {
  this.timeout(90_000)
  const user = { username: uniqueName('one-login'), password: 'Correct horse 1' }
  const client = { name: uniqueName('one-client'), secret: 's', redirectURIs: [redirectUri] }
  const own = { client_id: client.name, client_secret: client.secret }
  const nodes = `/kapis/resources.${groupDomain}/v1alpha3/nodes`
  let strict: Replica

  before(async () => {
    await createUser(user)
    await createClient(client)
    await loginAs(user)
    strict = start('one-login', {
      namespace: setting('KAPIS_NAMESPACE'),
      issuer: await issuerUrl(),
      authentication: { multipleLogin: false },
    })
    await ready(strict)
  })
  after(async () => {
    await stop(strict, 'SIGKILL')
    await removeUser(user.username)
    await removeClient(client.name)
  })

  const token = (fields: Readonly<Record<string, string>>) => send(strict, '/oauth/token', fields)
  const refresh = ({ refresh_token }: TokenPair, by: typeof own = own) =>
    token({ ...by, grant_type: 'refresh_token', refresh_token })
  async function given(response: Promise<HttpResponse>): Promise<TokenPair> {
    const { code, body } = await response
    expect(code, body).to.equal(200)
    return JSON.parse(body)
  }
  const isTaken = async ({ access_token }: TokenPair) =>
    expect(await bearer(access_token, nodes)).to.include({ code: 403 })
  /** Waits until kapis-apiserver rejects the token; the error does not state why. */
  const isRejected = ({ access_token }: TokenPair) =>
    eventually(
      async () =>
        expectStatus(await bearer(access_token, nodes), statusBody(401, 'Unauthorized', 'Unauthorized')),
      20_000,
    )
  const ended = [400, { error: 'invalid_grant', error_description: 'the login has ended' }]

  it('keeps the session of the last code, and kapis-apiserver rejects tokens of the previous one', async () => {
    const agent = await logInBrowser(user)
    const exchange = async () => {
      const { code = '' } = await responseTo(agent, { client_id: client.name })
      return given(token({ ...own, grant_type: 'authorization_code', code }))
    }
    const first = await exchange()
    // The login of the browser, from which the code comes, remains valid.
    await isTaken(first)
    const second = await exchange()
    await isRejected(first)
    expect(parseResponse(await refresh(first))).to.deep.equal(ended)
    await isTaken(second)

    const grant = { grant_type: 'password', ...user, ...credentials }
    const third = await given(token(grant))
    await isRejected(second)
    expect(parseResponse(await refresh(second))).to.deep.equal(ended)
    await isTaken(third)
    expect(claimsOf((await given(refresh(third, credentials))).access_token).sid).to.equal(
      claimsOf(third.access_token).sid,
    )
    // The browser session has ended too.
    await eventually(async () => {
      const page = await agent.open(`${await issuerUrl()}/session`)
      expect([page.code, page.url.pathname]).to.deep.equal([200, '/oauth/login'])
    }, 20_000)
  })
})

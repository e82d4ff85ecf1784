import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type HttpResponse, sendToKapis, uniqueName } from '../e2e/cluster.ts'
import { eventually, expectStatus, platformPath, statusBody } from '../e2e/http.ts'
import { claimsOf, createUser, credentials, parseResponse, removeUser, type Tokens } from '../e2e/oauth.ts'
import { createClient, removeClient } from '../e2e/oauth-clients.ts'
import { type Replica, startReplica } from './replica.ts'

// Lifetimes in seconds, far enough apart that a slow machine reaches none of them between two clock
// changes.
const accessSeconds = 600
const refreshSeconds = 1_800
const loginSeconds = 3_000
const skewSeconds = 120
const own = {
  accessTokenMaxAgeSeconds: 300,
  accessTokenInactivityTimeoutSeconds: 900,
  loginMaxAgeSeconds: 2_400,
}

const tokenReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' }

type Client = { readonly client_id: string; readonly client_secret: string }

/**
 * Token lifetimes, as observed by a kapis-apiserver and a kapis-oauth whose clocks are set forward.
 */
describe('token lifetimes', function () {
  this.timeout(120_000)
  const user = { username: uniqueName('lifetime'), password: 'Correct horse 1' }
  const short = { client_id: uniqueName('short'), client_secret: 's' }
  const configured = { client_id: uniqueName('configured'), client_secret: 's' }
  let replica: Replica

  before(async () => {
    await createUser(user)
    const grants = { trusted: true, grantTypes: ['password', 'refresh_token'] }
    const registered = (client: Client, lifetimes: object = {}) => ({
      name: client.client_id,
      secret: client.client_secret,
      ...grants,
      ...lifetimes,
    })
    await createClient(registered(short, own))
    // This Secret has no effect, since the client in the configuration takes precedence.
    await createClient({ ...registered(configured), secret: 'another' })
    replica = await startReplica({
      hasOwnListener: true,
      oauth: {
        accessTokenSeconds: accessSeconds,
        refreshTokenSeconds: refreshSeconds,
        loginMaxAgeSeconds: loginSeconds,
        clockSkewSeconds: skewSeconds,
        clients: [registered(credentials), registered(configured, own)],
      },
    })
    for (const client of [short, configured]) await eventually(() => logIn(client), 20_000)
  })
  beforeEach(() => setClock(0))
  after(async () => {
    await replica?.stop()
    await removeUser(user.username)
    for (const { client_id } of [short, configured]) await removeClient(client_id)
  })

  /** Sets the clocks to a number of seconds from now; the programs read the fault every 50 ms. */
  async function setClock(seconds: number): Promise<void> {
    replica.set({ clockMs: seconds * 1_000 })
    await sleep(500)
  }
  const form = (path: string, fields: Readonly<Record<string, string>>) =>
    sendToKapis(`${replica.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams(fields)),
    })
  async function given(response: Promise<HttpResponse>, expires_in: number): Promise<Tokens> {
    const { code, body } = await response
    expect(code, body).to.equal(200)
    const { access_token, refresh_token, ...rest } = JSON.parse(body)
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in })
    return { access_token, refresh_token }
  }
  const lifeOf = (client: Client) => (client === credentials ? accessSeconds : own.accessTokenMaxAgeSeconds)
  const logIn = (client: Client) =>
    given(form('/oauth/token', { ...client, grant_type: 'password', ...user }), lifeOf(client))
  const refresh = (client: Client, { refresh_token }: Tokens) =>
    form('/oauth/token', { ...client, grant_type: 'refresh_token', refresh_token })
  const goOn = (client: Client, tokens: Tokens) => given(refresh(client, tokens), lifeOf(client))
  const bearer = ({ access_token }: Tokens, path: string) =>
    sendToKapis(`${replica.url}${path}`, { headers: { authorization: `Bearer ${access_token}` } })
  const review = async ({ access_token: token }: Tokens) => {
    const response = await sendToKapis(`${replica.url}/oauth/authenticate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...tokenReview, spec: { token } }),
    })
    return parseResponse(response)
  }
  /** Expects 403: the token is valid, but the user has no permissions. */
  const isTaken = async (tokens: Tokens) =>
    expect(await bearer(tokens, platformPath)).to.include({ code: 403 })
  const expired = [
    400,
    { error: 'invalid_grant', error_description: 'the refresh token is invalid or expired' },
  ]

  const ended = [400, { error: 'invalid_grant', error_description: 'the login has ended' }]

  async function isExpired(client: Client, tokens: Tokens): Promise<void> {
    const response = await bearer(tokens, platformPath)
    expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
    expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
    const introspected = await form('/oauth/introspect', { ...client, token: tokens.access_token })
    expect(parseResponse(introspected)).to.deep.equal([200, { active: false }])
    expect(await review(tokens)).to.deep.equal([200, { ...tokenReview, status: { authenticated: false } }])
    expectStatus(await bearer(tokens, '/oauth/userinfo'), statusBody(401, 'Unauthorized', 'Unauthorized'))
  }

  it('accept an access token of a clock slightly ahead, and none from the future', async () => {
    const [near, far] = [await logIn(credentials), await logIn(credentials)]
    await setClock(-skewSeconds / 2)
    await isTaken(near)
    await setClock(-skewSeconds - 60)
    const response = await bearer(far, platformPath)
    expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
    expect(parseResponse(await refresh(credentials, far))).to.deep.equal(expired)
    await setClock(0)
    await isTaken(far)
  })

  const rows: readonly [string, Client][] = [
    ['from the configuration', credentials],
    ['of a client with its own lifetimes', short],
    ['of a configured client with its own lifetimes', configured],
  ]
  for (const [whose, client] of rows) {
    const life = lifeOf(client)
    it(`keep an access token valid as long as it declares: ${whose}`, async () => {
      const tokens = await logIn(client)
      const { exp, iat } = claimsOf(tokens.access_token)
      expect(Number(exp) - Number(iat)).to.equal(life)
      await isTaken(tokens)
      await setClock(life - 60)
      await isTaken(tokens)
      // A token that has expired by less than the clock skew must be accepted.
      await setClock(life + skewSeconds / 2)
      await isTaken(tokens)
      await setClock(life + skewSeconds + 30)
      await isExpired(client, tokens)
      // The login can still be refreshed.
      await isTaken(await goOn(client, tokens))
    })

    const inactivity =
      client === credentials ? refreshSeconds : life + own.accessTokenInactivityTimeoutSeconds
    it(`keep a refresh token valid until the session was unused for the configured time: ${whose}`, async () => {
      const unused = await logIn(client)
      await setClock(inactivity + skewSeconds / 2)
      const late = await goOn(client, unused)
      await setClock(0)
      const another = await logIn(client)
      await setClock(inactivity + skewSeconds + 30)
      expect(parseResponse(await refresh(client, another))).to.deep.equal(expired)
      // Only this token has expired.
      expect(parseResponse(await refresh(client, another))).to.deep.equal(expired)
      await isTaken(late)
    })

    const longest = client === credentials ? loginSeconds : own.loginMaxAgeSeconds
    it(`keep a used session valid up to its maximum age: ${whose}`, async () => {
      const first = await logIn(client)
      await setClock(inactivity * 0.8)
      const second = await goOn(client, first)
      await setClock(inactivity * 1.5)
      const response = await refresh(client, second)
      expect(response.code, response.body).to.equal(200)
      const { expires_in, ...third } = JSON.parse(response.body)
      const left = longest - inactivity * 1.5
      expect(expires_in).to.be.within(Math.min(life, left - 60), Math.min(life, left))
      const { exp, iat } = claimsOf(third.refresh_token)
      expect(Number(exp) - Number(iat)).to.be.within(left - 60, left)
      await setClock(longest + skewSeconds / 2)
      expect(parseResponse(await refresh(client, third))).to.deep.equal(ended)
      await setClock(longest + skewSeconds + 30)
      expect(parseResponse(await refresh(client, third))).to.deep.equal(expired)
      await isExpired(client, third)
    })
  }
})

import { expect } from 'chai'
import { forge } from '../../pkg/jwt/fixtures.ts'
import { generateKey } from '../../pkg/jwt/key-set.ts'
import { retire } from '../../pkg/jwt/retired-keys.ts'
import { type HttpResponse, kubectlOutput, sendToKapis, sendToKube, uniqueName } from '../e2e/cluster.ts'
import { eventually, expectStatus, platformPath, sendAs, statusBody } from '../e2e/http.ts'
import {
  claimsOf,
  createUser,
  credentials,
  loginAs,
  parseResponse,
  refresh,
  removeUser,
  type Tokens,
} from '../e2e/oauth.ts'
import { issuerUrl } from '../e2e/oauth-clients.ts'
import { type Replica, ready, send, start, stop } from '../e2e/replica.ts'
import { setting } from '../e2e/run.ts'

type Key = { readonly kid: string; readonly alg: string }

/** Two kapis-oauth that share keys, of which the second rotates them after a short time. */
describe('signing keys that are rotated on a schedule', function () {
  this.timeout(180_000)
  const user = { username: uniqueName('rotated'), password: 'Correct horse 1' }
  let replica: Replica
  let first: readonly Key[]
  let old: Tokens

  before(async () => {
    await createUser(user)
    old = await loginAs({ ...user, scope: 'openid' })
    await setBack()
    first = await keysOf(sendToKapis('/oauth/keys'))
    replica = start('rotating', {
      namespace: setting('KAPIS_NAMESPACE'),
      issuer: await issuerUrl(),
      keyRotationSeconds: 60,
    })
    await ready(replica)
  })
  after(async () => {
    await stop(replica, 'SIGKILL')
    await removeUser(user.username)
  })

  async function keysOf(response: Promise<Pick<HttpResponse, 'code' | 'body'>>): Promise<readonly Key[]> {
    const { code, body } = await response
    expect(code, body).to.equal(200)
    return JSON.parse(body).keys
  }
  /**
   * Makes all keys a day older, including new ones that do not sign yet. The second kapis-oauth
   * then rotates them before the first one, which publishes new keys an hour before they sign.
   */
  async function setBack(): Promise<void> {
    const secret = ['-n', setting('KAPIS_NAMESPACE'), 'get', 'secret', 'kapis-signing-keys', '-o']
    const data = await kubectlOutput(...secret, 'jsonpath={.data.keys\\.json}')
    const stored: { signsFrom: number }[] = JSON.parse(Buffer.from(data, 'base64').toString())
    const aged = stored.map(key => ({ ...key, signsFrom: key.signsFrom - 86_400 }))
    const patch = { data: { 'keys.json': Buffer.from(JSON.stringify(aged)).toString('base64') } }
    const args = ['-n', setting('KAPIS_NAMESPACE'), 'patch', 'secret', 'kapis-signing-keys']
    await kubectlOutput(...args, '--type=merge', '-p', JSON.stringify(patch))
  }
  const kidOf = ({ access_token }: Tokens): string =>
    JSON.parse(Buffer.from(access_token.split('.')[0] ?? '', 'base64url').toString()).kid
  const grant = (fields: Readonly<Record<string, string>>) => ({ ...credentials, ...fields })
  async function tokensOf(response: Promise<Pick<HttpResponse, 'code' | 'body'>>): Promise<Tokens> {
    const { code, body } = await response
    expect(code, body).to.equal(200)
    return JSON.parse(body)
  }
  const logInThere = () => tokensOf(send(replica, '/oauth/token', grant({ grant_type: 'password', ...user })))
  const refreshThere = ({ refresh_token }: Tokens) =>
    tokensOf(send(replica, '/oauth/token', grant({ grant_type: 'refresh_token', refresh_token })))

  async function isGoodEverywhere({ access_token: token }: Tokens): Promise<void> {
    // The token is valid, but the user has no permissions.
    expect(await sendAs(token, platformPath)).to.include({ code: 403 })
    const object = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const headers = { 'content-type': 'application/json' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const response = await sendToKube(token, path, { method: 'POST', headers, body: JSON.stringify(object) })
    expect(response.code, response.body).to.equal(201)
    expect(JSON.parse(response.body).status.userInfo.username).to.equal(user.username)
    const asked = await send(replica, '/oauth/introspect', grant({ token }))
    expect(JSON.parse(asked.body)).to.include({ active: true, sub: user.username })
  }

  it('are published by both replicas before they sign, next to the active ones', async () => {
    await eventually(
      async () => {
        const keys = await keysOf(sendToKapis('/oauth/keys'))
        expect(keys).to.have.length(first.length + 2)
        expect(keys).to.deep.include.members([...first])
        expect(await keysOf(send(replica, '/oauth/keys'))).to.deep.equal(keys)
      },
      90_000,
      250,
    )
  })

  it('are used by both replicas from the same time on, and earlier tokens stay valid', async () => {
    const known = new Set(first.map(({ kid }) => kid))
    const fresh: Tokens[] = []
    await eventually(
      async () => {
        const both = [await loginAs(user), await logInThere()]
        expect(both.filter(tokens => known.has(kidOf(tokens)))).to.deep.equal([])
        expect(new Set(both.map(kidOf)).size).to.equal(1)
        fresh.push(...both)
      },
      60_000,
      500,
    )
    expect(known.has(kidOf(old))).to.equal(true)
    for (const tokens of [old, ...fresh]) await isGoodEverywhere(tokens)
    const refreshed = await refreshThere(old)
    expect(known.has(kidOf(refreshed))).to.equal(false)
    expect(claimsOf(refreshed.access_token).sid).to.equal(claimsOf(old.access_token).sid)
    for (const tokens of [old, refreshed]) await isGoodEverywhere(tokens)
  })

  it('are kept as public keys for ID token hints of their sessions only', async () => {
    const key = await generateKey('RS256', 0)
    const { access_token } = await loginAs(user)
    const { sid, exp } = claimsOf(access_token)
    const retired = retire([], { before: [key], after: [] }, () => true)
    const data = { 'retired.json': Buffer.from(JSON.stringify(retired)).toString('base64') }
    const args = ['-n', setting('KAPIS_NAMESPACE'), 'patch', 'secret', 'kapis-signing-keys']
    await kubectlOutput(...args, '--type=merge', '-p', JSON.stringify({ data }))
    const claims = { iss: await issuerUrl(), sub: user.username, sid, exp }
    const forged = await forge(key, { ...claims, ...claimsOf(access_token) })
    expectStatus(await sendAs(forged, platformPath), statusBody(401, 'Unauthorized', 'Unauthorized'))
    const published = await keysOf(sendToKapis('/oauth/keys'))
    expect(published.map(({ kid }) => kid)).to.not.include(key.kid)
    const aud = credentials.client_id
    const hint = await forge(key, { ...claims, aud, exp: 1, token_type: undefined }, { typ: 'JWT' })
    await eventually(async () => {
      const response = await sendToKapis(`/oauth/logout?${new URLSearchParams({ id_token_hint: hint })}`)
      expect(parseResponse(response)).to.deep.equal([200, { message: 'success' }])
    }, 10_000)
    await eventually(async () => {
      expectStatus(await sendAs(access_token, platformPath), statusBody(401, 'Unauthorized', 'Unauthorized'))
    }, 10_000)
  })

  it('become invalid with all their tokens when their Secret is deleted', async () => {
    const [gone, before] = [await loginAs(user), await keysOf(sendToKapis('/oauth/keys'))]
    await isGoodEverywhere(gone)
    await kubectlOutput('-n', setting('KAPIS_NAMESPACE'), 'delete', 'secret', 'kapis-signing-keys')
    await eventually(async () => {
      const keys = await keysOf(sendToKapis('/oauth/keys'))
      expect(keys.map(({ alg }) => alg)).to.deep.equal(['ES256', 'RS256'])
      expect(before).to.not.deep.include.members([...keys])
      expect(await keysOf(send(replica, '/oauth/keys'))).to.deep.equal(keys)
      const response = await sendAs(gone.access_token, platformPath)
      expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
    }, 20_000)
    expect(parseResponse(await refresh(gone.refresh_token))).to.deep.equal([
      400,
      { error: 'invalid_grant', error_description: 'the refresh token is invalid or expired' },
    ])
    for (const tokens of [await loginAs(user), await logInThere()])
      await eventually(() => isGoodEverywhere(tokens), 20_000)
    // kube-apiserver fetches the keys again for an unknown key ID, and caches a token for ten
    // seconds.
    await eventually(
      async () => expect(await sendToKube(gone.access_token, '/api')).to.include({ code: 401 }),
      40_000,
      500,
    )
  })
})

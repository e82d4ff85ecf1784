import { expect } from 'chai'
import { accessToken, type HttpResponse, kubectlOutput, sendToKapis, uniqueName } from '../e2e/cluster.ts'
import {
  endsWithinSeconds,
  eventually,
  expectStatus,
  groupDomain,
  platformPath,
  sendAs,
  statusBody,
} from '../e2e/http.ts'
import {
  claimsOf,
  createUser,
  credentials,
  form,
  loginAs,
  parseResponse,
  removeUser,
  type Tokens,
} from '../e2e/oauth.ts'
import { setting } from '../e2e/run.ts'
import { type Replica, startReplica } from './replica.ts'

const users = `/kapis/iam.${groupDomain}/v1alpha2/users`

/**
 * Each replica receives the end of a login by its own watch, and a stopped replica when it starts
 * again.
 */
describe('a session that ends, with two replicas of kapis-apiserver', function () {
  this.timeout(120_000)
  const user = { username: uniqueName('ended'), password: 'Correct horse 1' }
  const stayer = { username: uniqueName('stayer'), password: 'Correct horse 1' }
  let admin: string
  let replica: Replica
  let staying: Tokens
  let tokens: Tokens

  before(async () => {
    admin = await accessToken()
    await createUser(stayer)
    staying = await loginAs(stayer)
    replica = await startReplica({})
  })
  beforeEach(async () => {
    await createUser(user)
    // Repeated: caches may still contain a deleted user with the same name.
    await eventually(async () => {
      tokens = await loginAs(user)
      await isTaken(tokens)
    }, 20_000)
  })
  afterEach(() => removeUser(user.username))
  after(async () => {
    await replica?.stop()
    await removeUser(stayer.username)
  })

  const serverUrls = () => [setting('KAPIS_URL'), replica.url]
  const read = (url: string, { access_token }: Tokens) => sendAs(access_token, `${url}${platformPath}`)
  async function isTaken(given: Tokens): Promise<void> {
    for (const url of serverUrls()) expect(await read(url, given), url).to.include({ code: 403 })
  }
  const isRejected = async (url: string, given: Tokens) =>
    expectStatus(await read(url, given), statusBody(401, 'Unauthorized', 'Unauthorized'))

  const send = (method: string, path: string, body?: object): Promise<HttpResponse> =>
    sendAs(admin, `${users}/${user.username}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  const ends: readonly [string, () => Promise<unknown>][] = [
    ['a logout', () => sendAs(tokens.access_token, '/oauth/logout')],
    ['a revocation', () => form('/oauth/revoke', { ...credentials, token: tokens.refresh_token })],
    ['the end of all sessions of its user', () => sendAs(tokens.access_token, '/oauth/logout?all=true')],
    ['the disabling of its user', () => send('PUT', '/status', { status: { state: 'Disabled' } })],
    ['a password change', () => send('PUT', '/password', { password: 'Other-Horse-22' })],
    ['the deletion of its user', () => send('DELETE', '')],
    ['a deletion with kubectl', () => deleteSession()],
  ]
  const deleteSession = () =>
    kubectlOutput('delete', `loginsessions.iam.${groupDomain}`, String(claimsOf(tokens.access_token).sid))

  for (const [what, end] of ends) {
    it(`is rejected by both within two seconds of ${what}`, async () => {
      const response = await end()
      if (typeof response === 'object' && response !== null) expect(response).to.include({ code: 200 })
      const endedAt = performance.now()
      const seconds = await Promise.all(
        serverUrls().map(async url => {
          await eventually(() => isRejected(url, tokens), 20_000, 10)
          return (performance.now() - endedAt) / 1_000
        }),
      )
      const figures = seconds.map(each => each.toFixed(3)).join(' s and ')
      if (process.env.E2E_FIGURES) console.log(`      rejected after ${figures} s`)
      for (const each of seconds) expect(each).to.be.below(endsWithinSeconds)
      await isTaken(staying)
    })
  }

  it('is rejected by a restarted replica from its first response on', async () => {
    await replica.kill('apiserver')
    expect(await sendAs(tokens.access_token, '/oauth/logout')).to.include({ code: 200 })
    await eventually(() => isRejected(setting('KAPIS_URL'), tokens), 20_000)
    // Until the replica is ready it returns 503; it must never accept the token.
    const codes = new Set<number>()
    let isUp = false
    const asked = (async () => {
      while (!isUp) {
        codes.add(
          await read(replica.url, tokens).then(
            response => response.code,
            () => 0,
          ),
        )
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    })()
    await replica.start('apiserver')
    await isRejected(replica.url, tokens)
    isUp = true
    await asked
    expect([...codes]).to.include.members([401])
    expect([...codes].filter(code => ![0, 401, 503].includes(code))).to.deep.equal([])
    await isTaken(staying)
  })

  it('has ended for the refresh token too, on both replicas', async () => {
    expect(await sendAs(tokens.access_token, `${replica.url}/oauth/logout`)).to.include({ code: 200 })
    for (const url of serverUrls()) {
      const response = await sendToKapis(`${url}/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: String(
          new URLSearchParams({
            ...credentials,
            grant_type: 'refresh_token',
            refresh_token: tokens.refresh_token,
          }),
        ),
      })
      expect(parseResponse(response)).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: 'the login has ended' },
      ])
    }
  })
})

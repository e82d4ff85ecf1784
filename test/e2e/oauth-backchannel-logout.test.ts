import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { createLocalJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import { kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { claimsOf, createUser, form, patchUser, removeUser } from './oauth.ts'
import { csrfOf, logInBrowser, pkce, redirectUri, responseTo, verifier } from './oauth-browser.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'

type Login = { readonly access_token: string; readonly id_token: string }
type ReceivedLogout = {
  readonly path: string
  readonly type: string | undefined
  readonly form: URLSearchParams
}

/** OpenID Connect Back-Channel Logout 1.0, with clients that validate the logout tokens. */
describe('a client with a back-channel logout URI', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('back'), password: 'Correct horse 1' }
  const names = [uniqueName('back-rs'), uniqueName('back-es')]
  const [rs = '', es = ''] = names
  const received: ReceivedLogout[] = []
  /** Status codes of the next responses of the client; 200 by default. */
  const statuses: number[] = []
  let server: Server
  let agent: Awaited<ReturnType<typeof logInBrowser>>

  before(async () => {
    server = createServer(async (req, res) => {
      const body = Buffer.concat(await req.toArray()).toString('utf8')
      received.push({
        path: req.url ?? '',
        type: req.headers['content-type'],
        form: new URLSearchParams(body),
      })
      res.writeHead(statuses.shift() ?? 200).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await createUser(user)
    for (const [name, idTokenSigningAlg] of [
      [rs, 'RS256'],
      [es, 'ES256'],
    ] as const)
      await createClient({
        ...{ name, secret: 's', redirectURIs: [redirectUri], idTokenSigningAlg },
        backchannelLogoutURI: `${origin}/${name}`,
        backchannelLogoutSessionRequired: true,
      })
  })
  beforeEach(async () => {
    received.length = 0
    statuses.length = 0
    agent = await logInBrowser(user)
  })
  after(async () => {
    server.closeAllConnections()
    server.close()
    await removeUser(user.username)
    for (const name of names) await removeClient(name)
  })

  async function logIn(client: string, scope = 'openid'): Promise<Login> {
    const { code = '' } = await responseTo(agent, {
      client_id: client,
      redirect_uri: redirectUri,
      scope,
      ...pkce,
    })
    const { body, code: status } = await form('/oauth/token', {
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
      ...{ client_id: client, client_secret: 's' },
    })
    expect(status, body).to.equal(200)
    return JSON.parse(body)
  }

  async function requests(count: number): Promise<readonly ReceivedLogout[]> {
    const deadline = Date.now() + 20_000
    while (received.length < count) {
      if (Date.now() > deadline) throw new Error(`received ${received.length} logout tokens`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    // Waits for additional requests, which would arrive soon.
    await new Promise(resolve => setTimeout(resolve, 300))
    return received.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** Validates a logout token (section 2.6). @returns the remaining claims */
  async function validate(
    request: ReceivedLogout | undefined,
    client: string,
    alg: string,
  ): Promise<JWTPayload> {
    expect(request).to.include({ path: `/${client}`, type: 'application/x-www-form-urlencoded' })
    expect([...(request?.form.keys() ?? [])]).to.deep.equal(['logout_token'])
    const token = request?.form.get('logout_token') ?? ''
    const keys = createLocalJWKSet(JSON.parse((await sendToKapis('/oauth/keys')).body))
    expect(decodeProtectedHeader(token)).to.include({ typ: 'logout+jwt', alg })
    const { payload } = await jwtVerify(token, keys, {
      ...{ issuer: await issuerUrl(), audience: client, typ: 'logout+jwt', algorithms: [alg] },
      requiredClaims: ['iat', 'exp', 'jti'],
    })
    const { iss, aud, iat = 0, exp = 0, jti, ...rest } = payload
    expect([iss, aud, exp - iat, typeof jti]).to.deep.equal([await issuerUrl(), client, 120, 'string'])
    return rest
  }
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  /** Returns the claims that a client expects for a login: sub and sid of its ID token. */
  function endOf({ id_token }: Login, username = user.username) {
    const { sub, sid } = claimsOf(id_token)
    expect([sub, typeof sid]).to.deep.equal([username, 'string'])
    return { sub, sid, events }
  }

  it('is supported in discovery', async () => {
    const { body } = await sendToKapis('/oauth/.well-known/openid-configuration')
    expect(JSON.parse(body)).to.include({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    })
  })

  it('receives a token for a logout that it requested, and a retry after an error', async () => {
    const login = await logIn(rs)
    statuses.push(503)
    const began = Date.now()
    const query = new URLSearchParams({ id_token_hint: login.id_token })
    await agent.open(`${await issuerUrl()}/logout?${query}`)
    expect(Date.now() - began).to.be.below(5_000)
    const [first, second, ...more] = await requests(2)
    expect(more).to.deep.equal([])
    for (const request of [first, second])
      expect(await validate(request, rs, 'RS256')).to.deep.equal(endOf(login))
    expect(first?.form.get('logout_token')).to.not.equal(second?.form.get('logout_token'))
  })

  it('receives a token for a logout at another client in the same browser, and for no other session', async () => {
    const [login, other, plain] = [await logIn(rs), await logIn(es), await logIn(es, '')]
    const first = agent
    agent = await logInBrowser(user)
    const elsewhere = await logIn(es)
    agent = first
    await agent.open(`${await issuerUrl()}/logout?${new URLSearchParams({ id_token_hint: login.id_token })}`)
    const [ofEs, ofRs, ...more] = await requests(2)
    expect(more).to.deep.equal([])
    expect(await validate(ofEs, es, 'ES256')).to.deep.equal(endOf(other))
    expect(await validate(ofRs, rs, 'RS256')).to.deep.equal(endOf(login))
    for (const [each, code] of [
      [login, 401],
      [other, 401],
      // Without the scope openid, a client does not take part in the session.
      [plain, 200],
      [elsewhere, 200],
    ] as const)
      expect((await sendToKapis('/oauth/userinfo', bearerOf(each))).code).to.equal(code)
    await sendToKapis('/oauth/logout', bearerOf(elsewhere))
    await requests(3)
  })

  it('receives a token for a session from before a reauthentication', async () => {
    const before = await logIn(rs)
    const page = await agent.open(`${await issuerUrl()}/login?return_to=/oauth/session`)
    await agent.submit(page, { csrf: csrfOf(page), return_to: '/oauth/session', ...user })
    expect((await sendToKapis('/oauth/userinfo', bearerOf(before))).code).to.equal(200)
    const after = await logIn(es)
    const session = await agent.open(`${await issuerUrl()}/session`)
    await agent.submit(session, { csrf: csrfOf(session) })
    const [ofEs, ofRs] = await requests(2)
    expect(await validate(ofEs, es, 'ES256')).to.deep.equal(endOf(after))
    expect(await validate(ofRs, rs, 'RS256')).to.deep.equal(endOf(before))
  })

  it('receives a token for every session that ends with `all`', async () => {
    const [one, other] = [await logIn(rs), await logIn(es)]
    const { code, body } = await sendToKapis('/oauth/logout?all=true', bearerOf(one))
    expect(code, body).to.equal(200)
    const [ofEs, ofRs, ...more] = await requests(2)
    expect(more).to.deep.equal([])
    expect(await validate(ofEs, es, 'ES256')).to.deep.equal(endOf(other))
    expect(await validate(ofRs, rs, 'RS256')).to.deep.equal(endOf(one))
  })

  it('receives a token for a session that an administrator deletes', async () => {
    const login = await logIn(es)
    await kubectlOutput('delete', 'loginsession', String(endOf(login).sid))
    const [request, ...more] = await requests(1)
    expect(more).to.deep.equal([])
    expect(await validate(request, es, 'ES256')).to.deep.equal(endOf(login))
  })

  it('receives a token when the password changes, and when the user is deleted', async () => {
    const leaver = { username: uniqueName('back-leaver'), password: user.password }
    await createUser(leaver)
    agent = await logInBrowser(leaver)
    const before = await logIn(es)
    const next = { ...leaver, password: 'Correct horse 2' }
    await createUser(next)
    const [changed] = await requests(1)
    expect(await validate(changed, es, 'ES256')).to.deep.equal(endOf(before, leaver.username))

    agent = await logInBrowser(next)
    const after = await logIn(rs)
    await removeUser(leaver.username)
    const [, deleted, ...more] = await requests(2)
    expect(more).to.deep.equal([])
    expect(await validate(deleted, rs, 'RS256')).to.deep.equal(endOf(after, leaver.username))
  })

  it('receives a token when an administrator disables the user', async () => {
    const login = await logIn(es)
    // Without an ID token, the client knows no sid.
    await logIn(rs, 'email')
    await patchUser(user.username, { status: { state: 'Disabled' } }, '--subresource=status')
    const [request, ...more] = await requests(1)
    expect(more).to.deep.equal([])
    expect(await validate(request, es, 'ES256')).to.deep.equal(endOf(login))
  })
})

function bearerOf({ access_token }: Login) {
  return { headers: { authorization: `Bearer ${access_token}` } }
}

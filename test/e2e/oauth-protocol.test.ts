import { expect } from 'chai'
import * as oidc from 'openid-client'
import { kubectlJson, kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { eventually, expectStatus, statusBody } from './http.ts'
import {
  bearer,
  claimsOf,
  createUser,
  credentials,
  form,
  loginAs,
  parseResponse,
  patchUser,
  refresh,
  removeUser,
  type Tokens,
  token,
} from './oauth.ts'
import { createClient, discover, issuerUrl, removeClient, waitForClient } from './oauth-clients.ts'
import { setting } from './run.ts'

const withinMs = 2_000
const domain = setting('KAPIS_GROUP_DOMAIN')

describe('kapis-oauth', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('protocol'), password: 'Correct horse 1' }
  const client = {
    name: uniqueName('client'),
    secret: 'a secret of its own',
    trusted: true,
    postLogoutRedirectURIs: ['https://console.example.org/bye'],
    accessTokenMaxAgeSeconds: 600,
    accessTokenInactivityTimeoutSeconds: 60,
  }
  const own = { client_id: client.name, client_secret: client.secret }
  const nodesPath = `/kapis/resources.${domain}/v1alpha3/nodes`
  let uid: string
  let issuer: string
  let tokens: Tokens

  before(async () => {
    await createUser(user, { groups: ['e2e-protocol'], displayName: 'Pro Tocol', lang: 'en' })
    uid = Object(await kubectlJson('get', `users.iam.${domain}`, user.username)).metadata.uid
    await createClient(client)
    issuer = await issuerUrl()
  })
  after(async () => {
    await removeUser(user.username)
    await removeClient(client.name)
  })
  beforeEach(async () => {
    tokens = await loginAs(user)
  })

  const authorized = () => ({ authorization: `Bearer ${tokens.access_token}` })
  /**
   * Waits until kapis-apiserver rejects the access token with 401. Before that it returns 403,
   * since the user has no permissions.
   */
  const isRejected = () =>
    eventually(
      async () => void expect(await bearer(tokens.access_token, nodesPath)).to.include({ code: 401 }),
      withinMs,
    )

  describe('OAuth clients in Secrets', () => {
    it('have their own lifetimes, and follow changes and deletions', async () => {
      const other = { ...client, name: uniqueName('other'), secret: 'first' }
      await createClient(other)
      const login = { grant_type: 'password', ...user, client_id: other.name }
      const response = await form('/oauth/token', { ...login, client_secret: 'first' })
      expect(response.code).to.equal(200)
      const given = JSON.parse(response.body)
      expect(given.expires_in).to.equal(600)
      const { exp, iat } = claimsOf(given.refresh_token)
      expect(Number(exp) - Number(iat)).to.equal(660)
      await createClient({ ...other, secret: 'second' })
      await waitForClient(other.name, 'first', false)
      // After its Secret has become invalid, the client does not exist; other clients are not
      // affected.
      const secrets = ['-n', setting('KAPIS_NAMESPACE'), 'patch', 'secret', other.name, '--type=merge', '-p']
      const broken = {
        stringData: { 'configuration.yaml': `${JSON.stringify(other).slice(0, -1)},"typo":1}` },
      }
      await kubectlOutput(...secrets, JSON.stringify(broken))
      await waitForClient(other.name, 'second', false)
      expect(await token({ grant_type: 'password', ...user })).to.include({ code: 200 })
      await createClient({ ...other, secret: 'third' })
      await removeClient(other.name)
      await waitForClient(other.name, 'third', false)
    })

    it('are locked for an address that has tried too many wrong secrets', async () => {
      const guessed = { name: uniqueName('guessed'), secret: 'right' }
      await createClient(guessed)
      try {
        const send = (client_secret: string) =>
          form('/oauth/token', { client_id: guessed.name, client_secret, grant_type: 'none' })
        const wrong = { error: 'invalid_client', error_description: 'invalid client credential' }
        for (let i = 0; i < 30; i++)
          expect(parseResponse(await send(`guess ${i}`))).to.deep.equal([401, wrong])
        const response = await send('right')
        expect(parseResponse(response)).to.deep.equal([
          429,
          {
            error: 'invalid_client',
            error_description: 'too many wrong client secrets from this address',
          },
        ])
        expect(Number(response.headers['retry-after'])).to.be.within(1, 60)
        // The unit test checks that other addresses are not affected: here all requests have the
        // same address.
        expect(await token({ grant_type: 'password', ...user })).to.include({ code: 200 })
      } finally {
        await removeClient(guessed.name)
      }
    })

    it('act as their user with client_credentials, if permitted', async () => {
      const robot = { name: uniqueName('robot'), secret: 's', user: user.username }
      await createClient({ ...robot, grantTypes: ['client_credentials'] })
      try {
        const send = { grant_type: 'client_credentials', client_id: robot.name, client_secret: 's' }
        const response = await form('/oauth/token', send)
        const { access_token, ...rest } = JSON.parse(response.body)
        expect([response.code, rest]).to.deep.equal([200, { token_type: 'Bearer', expires_in: 7200 }])
        expect(claimsOf(access_token)).to.deep.include({ sub: user.username, groups: ['e2e-protocol'] })
        expect(await bearer(access_token, nodesPath)).to.include({ code: 403 })
        const session = Object(await kubectlJson('get', 'loginsession', String(claimsOf(access_token).sid)))
        expect(session.spec).to.include({ type: 'ClientCredentials', user: user.username })
      } finally {
        await removeClient(robot.name)
      }
      expect(parseResponse(await token({ grant_type: 'client_credentials' }))).to.deep.equal([
        400,
        { error: 'unauthorized_client', error_description: 'the client may not use this grant type' },
      ])
    })
  })

  describe('POST /oauth/revoke', () => {
    for (const kind of ['access_token', 'refresh_token'] as const) {
      it(`ends the session of the ${kind}, on kapis-apiserver within two seconds`, async () => {
        const response = await form('/oauth/revoke', { ...credentials, token: tokens[kind] })
        expect(parseResponse(response)).to.deep.equal([200, ''])
        await isRejected()
        expect(parseResponse(await refresh(tokens.refresh_token))).to.deep.equal([
          400,
          { error: 'invalid_grant', error_description: 'the login has ended' },
        ])
      })
    }

    it('is available only to the client of the token', async () => {
      expect(
        parseResponse(await form('/oauth/revoke', { ...own, token: tokens.refresh_token })),
      ).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: 'the token was issued to another client' },
      ])
      expect(
        parseResponse(await form('/oauth/revoke', { ...credentials, client_secret: 'wrong', token: 'x' })),
      ).to.deep.equal([401, { error: 'invalid_client', error_description: 'invalid client credential' }])
      expect(await form('/oauth/revoke', { ...credentials, token: 'garbage' })).to.include({ code: 200 })
    })
  })

  describe('POST /oauth/introspect', () => {
    it('returns the claims of a token, and inactive after its session has ended', async () => {
      const { jti, iat, exp, auth_time, acr, amr } = claimsOf(tokens.access_token)
      const send = () => form('/oauth/introspect', { ...credentials, token: tokens.access_token })
      expect(parseResponse(await send())).to.deep.equal([
        200,
        {
          active: true,
          token_type: 'Bearer',
          client_id: credentials.client_id,
          username: user.username,
          sub: user.username,
          iss: issuer,
          aud: [domain],
          iat,
          exp,
          jti,
          auth_time,
          acr,
          amr,
        },
      ])
      await form('/oauth/revoke', { ...credentials, token: tokens.access_token })
      expect(parseResponse(await send())).to.deep.equal([200, { active: false }])
    })

    it('is not available to unauthenticated clients', async () => {
      expect(parseResponse(await form('/oauth/introspect', { token: tokens.access_token }))).to.deep.equal([
        401,
        { error: 'invalid_client', error_description: 'the OAuth client was not found' },
      ])
    })
  })

  describe('/oauth/userinfo', () => {
    for (const method of ['GET', 'POST']) {
      it(`returns the user: ${method}`, async () => {
        const response = await sendToKapis('/oauth/userinfo', { method, headers: authorized() })
        expect(parseResponse(response)).to.deep.equal([
          200,
          {
            sub: user.username,
            name: 'Pro Tocol',
            email: `${user.username}@e2e.test`,
            locale: 'en',
            preferred_username: user.username,
          },
        ])
      })
    }

    it('accepts the access token in a form too, and not in the URL', async () => {
      const { access_token } = tokens
      const response = await form('/oauth/userinfo', { access_token })
      expect([response.code, JSON.parse(response.body).sub]).to.deep.equal([200, user.username])
      expect(response.headers).to.include({ 'cache-control': 'no-store' })
      expect(parseResponse(await form('/oauth/userinfo', { access_token }, authorized()))).to.deep.equal([
        400,
        { error: 'invalid_request', error_description: 'the access token is given more than once' },
      ])
      expectStatus(
        await form('/oauth/userinfo', { access_token: 'garbage' }),
        statusBody(401, 'Unauthorized', 'Unauthorized'),
      )
      expect(parseResponse(await form(`/oauth/userinfo?access_token=${access_token}`, {}))).to.deep.equal([
        401,
        { error: 'login_required' },
      ])
    })

    it('does not redirect to a login page', async () => {
      const response = await sendToKapis('/oauth/userinfo')
      expect(parseResponse(response)).to.deep.equal([401, { error: 'login_required' }])
      expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
    })
  })

  describe('POST /oauth/authenticate', () => {
    const apiVersion = 'authentication.k8s.io/v1beta1'
    const review = (spec: object) =>
      sendToKapis('/oauth/authenticate', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ apiVersion, kind: 'TokenReview', spec }),
      })
    const no = [200, { apiVersion, kind: 'TokenReview', status: { authenticated: false } }]

    it('returns the user of a token', async () => {
      const extra = {
        'authentication.kubernetes.io/credential-id': [`JTI=${claimsOf(tokens.access_token).jti}`],
      }
      expect(parseResponse(await review({ token: tokens.access_token }))).to.deep.equal([
        200,
        {
          apiVersion,
          kind: 'TokenReview',
          status: {
            authenticated: true,
            user: { username: user.username, uid, groups: ['e2e-protocol'], extra },
          },
        },
      ])
    })

    it('rejects an invalid token, and a token of a disabled user', async () => {
      for (const bad of ['garbage', 'x'.repeat(100_000), tokens.refresh_token, setting('KAPIS_PASSWORD')])
        expect(parseResponse(await review({ token: bad }))).to.deep.equal(no)
      const patch = (state: string) => patchUser(user.username, { status: { state } }, '--subresource=status')
      await patch('Disabled')
      try {
        await eventually(
          async () =>
            void expect(parseResponse(await review({ token: tokens.access_token }))).to.deep.equal(no),
          withinMs,
        )
      } finally {
        await patch('Active')
      }
    })

    it('requires a token', async () => {
      expectStatus(
        await review({}),
        statusBody(400, 'BadRequest', 'token is required for TokenReview in authentication'),
      )
    })
  })

  describe('/oauth/logout', () => {
    it('ends the session of the token, and no other', async () => {
      const other = await loginAs(user)
      const response = await sendToKapis('/oauth/logout', { headers: authorized() })
      expect(parseResponse(response)).to.deep.equal([200, { message: 'success' }])
      await isRejected()
      expect(await refresh(tokens.refresh_token)).to.include({ code: 400 })
      expect(await bearer(other.access_token, nodesPath)).to.include({ code: 403 })
    })

    it('ends every session with all=true', async () => {
      const other = await loginAs(user)
      const response = await sendToKapis('/oauth/logout?all=true', { method: 'POST', headers: authorized() })
      expect(parseResponse(response)).to.deep.equal([200, { message: 'success' }])
      for (const { refresh_token } of [tokens, other])
        expect(await refresh(refresh_token)).to.include({ code: 400 })
      await isRejected()
    })

    it('does nothing without a token', async () => {
      expect(parseResponse(await sendToKapis('/oauth/logout'))).to.deep.equal([200, { message: 'success' }])
    })

    it('redirects to a post-logout URI of the client with the state, and to no other', async () => {
      const go = (uri: string) =>
        sendToKapis(
          `/oauth/logout?${new URLSearchParams({ client_id: client.name, post_logout_redirect_uri: uri, state: 'a b' })}`,
        )
      const right = await go('https://console.example.org/bye')
      expect([right.code, right.headers.location]).to.deep.equal([
        302,
        'https://console.example.org/bye?state=a%20b',
      ])
      const wrong = await go('https://evil.example.org/')
      expect(wrong.headers.location).to.equal(undefined)
      expect(parseResponse(wrong)).to.deep.equal([
        400,
        {
          error: 'invalid_request',
          error_description: 'the parameter post_logout_redirect_uri is not registered for the client',
        },
      ])
    })
  })

  it('rejects malicious bearer tokens everywhere, with the same response', async () => {
    const [head = '', payload = '', signature = ''] = tokens.access_token.split('.')
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const header = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'))
    const claims = claimsOf(tokens.access_token)
    const hostile = [
      `${encode({ ...header, alg: 'none' })}.${payload}.`,
      `${encode({ ...header, alg: 'HS256' })}.${payload}.${signature}`,
      `${encode({ ...header, kid: 'other' })}.${payload}.${signature}`,
      `${head}.${encode({ ...claims, sub: 'admin' })}.${signature}`,
      `${head}.${encode({ ...claims, exp: 1 })}.${signature}`,
      tokens.access_token.slice(0, -3),
      tokens.refresh_token,
      `${head}.${encode({ ...claims, pad: 'x'.repeat(9_000) })}.${signature}`,
      'garbage',
    ]
    for (const path of ['/oauth/userinfo', '/oauth/personal-access-tokens', nodesPath]) {
      for (const bad of hostile) {
        const response = await bearer(bad, path)
        expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
        expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
      }
    }
    expect(await bearer(tokens.access_token, nodesPath)).to.include({ code: 403 })
  })

  describe('with openid-client', () => {
    let config: oidc.Configuration
    before(async () => {
      config = await discover(client.name, client.secret)
    })

    it('has a complete discovery document', () => {
      const metadata = config.serverMetadata()
      expect(metadata.issuer).to.equal(issuer)
      for (const name of ['token', 'userinfo', 'revocation', 'introspection', 'end_session'] as const)
        expect(metadata[`${name}_endpoint`]).to.match(new RegExp(`^${issuer}/`))
    })

    it('can refresh, introspect, read userinfo, and revoke', async () => {
      const first = await oidc.genericGrantRequest(config, 'password', { ...user, scope: 'openid email' })
      expect(first.expires_in).to.equal(600)
      const next = await oidc.refreshTokenGrant(config, first.refresh_token ?? '')
      expect(next.refresh_token).to.not.equal(first.refresh_token)
      const introspection = await oidc.tokenIntrospection(config, next.access_token)
      expect(introspection).to.include({ active: true, client_id: client.name, scope: 'openid email' })
      expect(await oidc.fetchUserInfo(config, next.access_token, user.username)).to.deep.equal({
        sub: user.username,
        email: `${user.username}@e2e.test`,
        email_verified: true,
      })
      await oidc.tokenRevocation(config, next.refresh_token ?? '')
      expect(await oidc.tokenIntrospection(config, next.access_token)).to.deep.equal({ active: false })
      let refused: unknown
      await oidc.refreshTokenGrant(config, next.refresh_token ?? '').catch(error => {
        refused = error.error
      })
      expect(refused).to.equal('invalid_grant')
    })
  })
})

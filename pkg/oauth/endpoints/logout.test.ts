import { expect } from 'chai'
import { forge } from '../../jwt/fixtures.ts'
import { startApp, type TestApp, type TestTokens } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'

const success = [200, { message: 'success' }]

describe('/oauth/logout', () => {
  let app: TestApp
  let tokens: TestTokens
  let sid: string
  before(async () => {
    app = await startApp()
    const postLogoutRedirectURIs = ['https://console.example.org/bye', 'https://console.example.org/?a=b']
    app.clients.set('kapis', { client: memoryClient('kapis', { postLogoutRedirectURIs }), secret: 'kapis' })
    app.clients.set('other', { client: memoryClient('other'), secret: 's' })
  })
  after(() => app.close())
  beforeEach(async () => {
    tokens = await app.login('alice')
    sid = await sidOf(tokens)
  })

  const sidOf = async ({ access_token }: TestTokens) =>
    (await app.tools.verifier.verifyAccess(access_token)).sid
  const endOf = (id: string) => app.sessions.get(id)?.ended
  const bearer = () => ({ authorization: `Bearer ${tokens.access_token}` })
  const get = (query: Record<string, string>, headers: Record<string, string> = {}) =>
    app.send('GET', `/oauth/logout?${new URLSearchParams(query)}`, { headers })
  const parsed = ({ code, body }: { code: number; body: string }) => [code, JSON.parse(body)]

  async function idToken(changes: object = {}, header: object = { typ: 'JWT' }) {
    const [key] = app.keys.stored
    if (key === undefined) throw new Error('no key')
    return forge(key, { aud: ['kapis'], sid, token_type: 'id_token', ...changes }, { ...header })
  }

  it('ends the session of the bearer token, and no other', async () => {
    const other = await sidOf(await app.login('alice'))
    expect(parsed(await get({}, bearer()))).to.deep.equal(success)
    expect([endOf(sid), endOf(other)]).to.deep.equal(['logout', ''])
  })

  it('accepts POST too, with and without a form', async () => {
    const bare = await app.send('POST', '/oauth/logout', { headers: bearer() })
    expect(parsed(bare)).to.deep.equal(success)
    expect(endOf(sid)).to.equal('logout')
    tokens = await app.login('alice')
    expect(parsed(await app.form('/oauth/logout', { all: 'false' }, bearer()))).to.deep.equal(success)
    expect(endOf(await sidOf(tokens))).to.equal('logout')
  })

  it('rejects another content type, and a parameter in both query and body', async () => {
    const json = await app.send('POST', '/oauth/logout', {
      headers: { ...bearer(), 'content-type': 'application/json' },
      body: '{}',
    })
    expect(json.code).to.equal(415)
    const twice = await app.form('/oauth/logout?all=false', { all: 'true' }, bearer())
    expect(parsed(twice)).to.deep.equal([
      400,
      { error: 'invalid_request', error_description: 'the parameter all is given more than once' },
    ])
    expect(endOf(sid)).to.equal('')
  })

  it('ends every session of the user with all=true, and no others', async () => {
    app.users.set('bob', memoryUser('bob'))
    const bob = await sidOf(await app.login('bob'))
    const second = await sidOf(await app.login('alice'))
    expect(parsed(await get({ all: 'true' }, bearer()))).to.deep.equal(success)
    for (const id of [sid, second]) expect(endOf(id)).to.equal('all logins ended by the user')
    expect(endOf(bob)).to.equal('')
  })

  it('does nothing without a session', async () => {
    expect(parsed(await get({}))).to.deep.equal(success)
    expect(endOf(sid)).to.equal('')
  })

  it('ends the session that an ID token names, expired or not', async () => {
    const expired = await idToken({ exp: 1000, iat: 900 })
    expect(parsed(await get({ id_token_hint: expired }))).to.deep.equal(success)
    expect(endOf(sid)).to.equal('logout')
  })

  for (const alg of ['ES256', 'RS256'] as const) {
    it(`accepts ID tokens signed with ${alg}`, async () => {
      const person = { username: 'alice', displayName: '', email: '', lang: '', groups: [] }
      const login = {
        isEmailVerified: true,
        sid,
        clientId: 'kapis',
        scope: 'openid',
        authTime: 1,
        amr: '',
        nonce: '',
        accessToken: 'x',
      }
      const hint = await app.tools.issuer.id({ ...person, ...login }, { lifeSeconds: -3600, alg })
      expect(parsed(await get({ id_token_hint: hint }))).to.deep.equal(success)
      expect(endOf(sid)).to.equal('logout')
    })
  }

  it('redirects the user to the post-logout URI of the client, with the given state', async () => {
    const rows: readonly [Record<string, string>, string][] = [
      [{ post_logout_redirect_uri: 'https://console.example.org/bye' }, 'https://console.example.org/bye'],
      [
        { post_logout_redirect_uri: 'https://console.example.org/bye', state: 'a&b=c #' },
        'https://console.example.org/bye?state=a%26b%3Dc%20%23',
      ],
      [
        { post_logout_redirect_uri: 'https://console.example.org/?a=b', state: 's' },
        'https://console.example.org/?a=b&state=s',
      ],
    ]
    for (const [query, location] of rows) {
      for (const more of [{ id_token_hint: await idToken() }, { client_id: 'kapis' }]) {
        const response = await get({ ...query, ...more })
        expect([response.code, response.headers.location]).to.deep.equal([302, location])
      }
      tokens = await app.login('alice')
      const response = await get(query, bearer())
      expect([response.code, response.headers.location]).to.deep.equal([302, location])
      expect(endOf(await sidOf(tokens))).to.equal('logout')
    }
  })

  const uri = 'https://console.example.org/bye'
  const astray = 'the parameter post_logout_redirect_uri is not registered for the client'
  const noHint = 'the parameter id_token_hint is not an ID token of this issuer'
  const refused: readonly [string, () => Promise<Record<string, string>> | Record<string, string>, string][] =
    [
      ['another redirect URI', () => ({ post_logout_redirect_uri: 'https://evil.example.org' }), astray],
      ['a path below a registered URI', () => ({ post_logout_redirect_uri: `${uri}/x` }), astray],
      ['a redirect URI with a query', () => ({ post_logout_redirect_uri: `${uri}?x` }), astray],
      ['a redirect URI in capitals', () => ({ post_logout_redirect_uri: uri.toUpperCase() }), astray],
      ['a path', () => ({ post_logout_redirect_uri: '//evil.example.org' }), astray],
      [
        'a redirect URI of another client',
        () => ({ post_logout_redirect_uri: uri, client_id: 'other' }),
        astray,
      ],
      [
        'a redirect URI without a client',
        () => ({ post_logout_redirect_uri: uri, client_id: 'nonexistent' }),
        'the OAuth client was not found',
      ],
      ['an invalid boolean', () => ({ all: 'yes' }), 'the parameter all must be true or false'],
      ['an invalid token as a hint', () => ({ id_token_hint: 'garbage' }), noHint],
      ['an access token as a hint', () => ({ id_token_hint: tokens.access_token }), noHint],
      ['a refresh token as a hint', () => ({ id_token_hint: tokens.refresh_token }), noHint],
      [
        'a hint of another issuer',
        async () => ({ id_token_hint: await idToken({ iss: 'https://evil' }) }),
        noHint,
      ],
      [
        'a hint of another client',
        async () => ({ id_token_hint: await idToken({ aud: ['other'] }), client_id: 'kapis' }),
        'the parameter client_id is not the client of the id_token_hint',
      ],
    ]
  for (const [what, query, description] of refused) {
    it(`rejects ${what}, and ends no session`, async () => {
      const response = await get(await query(), bearer())
      expect(parsed(response)).to.deep.equal([
        400,
        { error: 'invalid_request', error_description: description },
      ])
      expect(response.headers.location).to.equal(undefined)
      expect(endOf(sid)).to.equal('')
    })
  }

  it('does not end all sessions with only a hint', async () => {
    expect(parsed(await get({ all: 'true', id_token_hint: await idToken() }))).to.deep.equal([
      400,
      { error: 'invalid_request', error_description: 'all=true requires the access token of the login' },
    ])
    expect(endOf(sid)).to.equal('')
  })

  for (const scope of ['read', 'full'])
    it(`does not end all sessions with a personal access token (${scope}), but revokes that token`, async () => {
      const made = await app.send('POST', '/oauth/personal-access-tokens', {
        headers: { ...bearer(), 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'ci', scope }),
      })
      const { id, token } = JSON.parse(made.body)
      const headers = { authorization: `Bearer ${token}` }
      for (const all of [get({ all: 'true' }, headers), app.form('/oauth/logout', { all: 'true' }, headers)])
        expect(parsed(await all)).to.deep.equal([
          403,
          { error: 'access_denied', error_description: 'all=true requires the access token of the login' },
        ])
      expect([endOf(sid), endOf(id)]).to.deep.equal(['', ''])
      expect(parsed(await get({}, headers))).to.deep.equal(success)
      expect([endOf(sid), endOf(id)]).to.deep.equal(['', 'logout'])
    })

  it('rejects a duplicate parameter', async () => {
    const response = await app.send('GET', '/oauth/logout?state=a&state=b', { headers: bearer() })
    expect(parsed(response)).to.deep.equal([
      400,
      { error: 'invalid_request', error_description: 'the parameter state is given more than once' },
    ])
  })
})

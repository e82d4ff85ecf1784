import { expect } from 'chai'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'

describe('/oauth/userinfo', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
    app.users.set(
      'alice',
      memoryUser('alice', { displayName: 'Alice A.', lang: 'en', groups: ['dev', 'system:masters'] }),
    )
  })
  after(() => app.close())

  async function send(method: string, scope: string, user = 'alice') {
    const { access_token } = await app.login(user, { scope })
    return app.send(method, '/oauth/userinfo', { headers: { authorization: `Bearer ${access_token}` } })
  }

  const plain = { name: 'Alice A.', locale: 'en', preferred_username: 'alice', email: 'alice@kapis.io' }
  const profile = { name: 'Alice A.', locale: 'en', preferred_username: 'alice', groups: ['dev'] }
  const email = { email: 'alice@kapis.io', email_verified: true }
  const rows: readonly [string, object][] = [
    ['', plain],
    ['email', plain],
    ['openid', {}],
    ['openid profile', profile],
    ['openid email', email],
    ['openid profile email', { ...profile, ...email }],
  ]
  for (const [scope, claims] of rows) {
    for (const method of ['GET', 'POST']) {
      it(`returns for ${method} with the scope '${scope}' the claims of that scope`, async () => {
        const response = await send(method, scope)
        expect([response.code, JSON.parse(response.body)]).to.deep.equal([200, { sub: 'alice', ...claims }])
        expect(response.headers['cache-control']).to.equal('no-store')
      })
    }
  }

  it('omits claims without a value, except for name, which some clients require', async () => {
    app.users.set('bob', memoryUser('bob', { email: '' }))
    const bob = { sub: 'bob', preferred_username: 'bob' }
    expect(JSON.parse((await send('GET', '', 'bob')).body)).to.deep.equal(bob)
    const { body } = await send('GET', 'openid profile email', 'bob')
    expect(JSON.parse(body)).to.deep.equal({ ...bob, name: 'bob', groups: ['dev'] })
  })

  it('returns 401 without a token', async () => {
    const response = await app.send('GET', '/oauth/userinfo')
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([401, { error: 'login_required' }])
    expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
  })

  describe('with the token in a form', () => {
    const post = (fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) =>
      app.form('/oauth/userinfo', fields, headers)

    it('returns the same claims', async () => {
      const { access_token } = await app.login('alice', { scope: 'openid email' })
      const response = await post({ access_token })
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([200, { sub: 'alice', ...email }])
      expect(response.headers['cache-control']).to.equal('no-store')
    })

    it('accepts the token in one place only', async () => {
      const { access_token } = await app.login('alice')
      const twice = await post({ access_token }, { authorization: `Bearer ${access_token}` })
      expect([twice.code, JSON.parse(twice.body)]).to.deep.equal([
        400,
        { error: 'invalid_request', error_description: 'the access token is given more than once' },
      ])
      const inQuery = await app.form(`/oauth/userinfo?access_token=${access_token}`, {})
      expect([inQuery.code, JSON.parse(inQuery.body)]).to.deep.equal([401, { error: 'login_required' }])
      const repeated = await app.send('POST', '/oauth/userinfo', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `access_token=${access_token}&access_token=x`,
      })
      expect(repeated.code).to.equal(400)
    })

    it('rejects an invalid token like an invalid bearer token', async () => {
      const { refresh_token } = await app.login('alice')
      for (const access_token of ['garbage', refresh_token, 'x'.repeat(50_000)]) {
        const response = await post({ access_token })
        expect([response.code, JSON.parse(response.body).reason]).to.deep.equal([401, 'Unauthorized'])
        expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
      }
    })

    it('rejects a JSON body', async () => {
      const headers = { 'content-type': 'application/json' }
      const response = await app.send('POST', '/oauth/userinfo', { headers, body: '{}' })
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        415,
        {
          error: 'invalid_request',
          error_description: 'the body must be application/x-www-form-urlencoded',
        },
      ])
    })
  })

  it('rejects refresh tokens', async () => {
    const { refresh_token } = await app.login('alice')
    const headers = { authorization: `Bearer ${refresh_token}` }
    expect(await app.send('GET', '/oauth/userinfo', { headers })).to.include({ code: 401 })
  })
})

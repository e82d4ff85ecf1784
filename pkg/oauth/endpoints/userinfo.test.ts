import { expect } from 'chai'
import { memoryUser, startApp, type TestApp } from '../fixtures.ts'

describe('/oauth/userinfo', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
    app.users.set('alice', memoryUser('alice', { displayName: 'Alice A.', lang: 'en' }))
  })
  after(() => app.close())

  async function ask(method: string, scope: string, user = 'alice') {
    const { access_token } = await app.login(user, { scope })
    return app.ask(method, '/oauth/userinfo', { headers: { authorization: `Bearer ${access_token}` } })
  }

  const profile = { name: 'Alice A.', locale: 'en', preferred_username: 'alice' }
  const email = { email: 'alice@kapis.io' }
  const rows: readonly [string, object][] = [
    ['', { ...profile, ...email }],
    ['openid', {}],
    ['openid profile', profile],
    ['openid email', email],
    ['openid profile email', { ...profile, ...email }],
  ]
  for (const [scope, claims] of rows) {
    for (const method of ['GET', 'POST']) {
      it(`shows ${method} with the scope '${scope}' what that names`, async () => {
        const answer = await ask(method, scope)
        expect([answer.code, JSON.parse(answer.body)]).to.deep.equal([200, { sub: 'alice', ...claims }])
        expect(answer.headers['cache-control']).to.equal('no-store')
      })
    }
  }

  it('leaves out what a user has not', async () => {
    app.users.set('bob', memoryUser('bob', { email: '' }))
    const answer = await ask('GET', '', 'bob')
    expect(JSON.parse(answer.body)).to.deep.equal({ sub: 'bob', preferred_username: 'bob' })
  })

  it('asks whoever is nobody to log in', async () => {
    const answer = await app.ask('GET', '/oauth/userinfo')
    expect([answer.code, JSON.parse(answer.body)]).to.deep.equal([401, { error: 'login_required' }])
    expect(answer.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
  })

  it('is not for refresh tokens', async () => {
    const { refresh_token } = await app.login('alice')
    const headers = { authorization: `Bearer ${refresh_token}` }
    expect(await app.ask('GET', '/oauth/userinfo', { headers })).to.include({ code: 401 })
  })
})

import { expect } from 'chai'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'
import type { HttpResponse } from '../request-fixtures.ts'

const basic = (text: string | Uint8Array) => `Basic ${Buffer.from(text).toString('base64')}`
const summaryOf = ({ code, headers, body }: HttpResponse) => ({
  code,
  challenge: headers['www-authenticate'],
  body: JSON.parse(body),
})

describe('/oauth/userinfo with a password', () => {
  let app: TestApp
  beforeEach(async () => {
    app = await startApp()
  })
  afterEach(() => app.close())

  const send = (authorization: string, method = 'GET', headers: Record<string, string> = {}) =>
    app.send(method, '/oauth/userinfo', { headers: { ...headers, authorization } })
  const lastLine = () => app.lines.findLast(({ audit }) => audit === 'userinfo')
  const challenge = 'Basic realm="kapis", charset="UTF-8"'
  const refused = (error_description: string) => ({
    code: 401,
    challenge,
    body: { error: 'login_required', error_description },
  })

  for (const login of ['alice', 'alice@kapis.io']) {
    it(`returns all claims to ${login}, and starts no session`, async () => {
      const response = await send(basic(`${login}:right`))
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        200,
        { sub: 'alice', preferred_username: 'alice', email: 'alice@kapis.io' },
      ])
      expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
      expect(response.headers).to.not.have.any.keys('set-cookie', 'www-authenticate')
      expect(app.sessions.size).to.equal(0)
      expect(lastLine()).to.include({ outcome: 'success', user: 'alice' })
    })
  }

  it('serves HEAD like GET', async () => {
    const response = await send(basic('alice:right'), 'HEAD')
    expect([response.code, response.body]).to.deep.equal([200, ''])
  })

  it('accepts a password with colons, and one that is not ASCII', async () => {
    for (const passwordHash of ['a:b::c', 'pässwörd €', '%41+ ']) {
      app.users.set('alice', memoryUser('alice', { inlineHash: passwordHash }))
      expect(await send(basic(`alice:${passwordHash}`)), passwordHash).to.include({ code: 200 })
    }
  })

  it('accepts a user who must change the password, as the password grant does', async () => {
    app.users.set('alice', memoryUser('alice', { mustChangePassword: true }))
    expect(await send(basic('alice:right'))).to.include({ code: 200 })
  })

  const wrong: readonly [string, string, string | undefined][] = [
    ['a wrong password', 'alice:wrong', 'alice'],
    ['an empty password', 'alice:', 'alice'],
    ['an unknown name', 'nonexistent:right', undefined],
    ['an empty name', ':right', undefined],
    ['a user without a password', 'nopassword:right', 'nopassword'],
    ['a wrong password of a disabled user', 'disabled:wrong', 'disabled'],
  ]
  for (const [what, credential, user] of wrong) {
    it(`responds to ${what} in the same way as to any failure`, async () => {
      expect(summaryOf(await send(basic(credential)))).to.deep.equal(refused('incorrect password'))
      expect(lastLine()).to.include({
        outcome: 'failure',
        reason: user === undefined ? 'unknown_user' : 'wrong_password',
      })
      expect(lastLine()?.user).to.equal(user)
    })
  }

  it('reports to a disabled user with the correct password that the account is disabled', async () => {
    expect(summaryOf(await send(basic('disabled:right')))).to.deep.equal(refused('account is not active'))
    expect(lastLine()).to.include({ reason: 'user_disabled', user: 'disabled' })
  })

  const broken: readonly [string, string][] = [
    ['a credential without a colon', basic('alice')],
    ['a credential that is not base64', 'Basic !'],
    ['nothing', 'Basic'],
    ['no UTF-8', basic(Uint8Array.of(0x61, 0x3a, 0xff))],
    ['two credentials in one header', `${basic('alice:right')}, ${basic('alice:right')}`],
  ]
  for (const [what, authorization] of broken) {
    it(`rejects ${what}`, async () => {
      expect(summaryOf(await send(authorization))).to.deep.equal(refused('invalid Basic credential'))
      expect(lastLine()).to.include({ outcome: 'failure', reason: 'broken_credential' })
    })
  }

  it('locks like the password grant does, with the same counters', async () => {
    for (const name of ['alice', 'nonexistent']) {
      const guess = { grant_type: 'password', username: name, password: 'wrong' }
      for (let i = 0; i < 2; i++) expect(await app.token(guess)).to.include({ code: 400 })
      for (let i = 0; i < 3; i++) expect(await send(basic(`${name}:wrong`))).to.include({ code: 401 })
      for (const password of ['wrong', 'right']) {
        const response = await send(basic(`${name}:${password}`))
        expect([response.code, JSON.parse(response.body)]).to.deep.equal([
          429,
          { error: 'invalid_grant', error_description: 'auth rate limit exceeded' },
        ])
        expect(Number(response.headers['retry-after'])).to.be.within(590, 600)
        expect(response.headers['www-authenticate']).to.equal(undefined)
      }
      expect(lastLine()).to.include({ reason: 'locked' })
      expect(await app.token({ ...guess, password: 'right' })).to.include({ code: 429 })
    }
    expect(app.sessions.size).to.equal(0)
  })

  it('grants access to no other endpoint', async () => {
    const authorization = basic('alice:right')
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const rows: readonly [string, string, Record<string, string>?][] = [
      ['POST', '/oauth/userinfo', form],
      ['POST', '/oauth/userinfo'],
      ['PUT', '/oauth/userinfo'],
      ['GET', '/oauth/personal-access-tokens'],
    ]
    for (const [method, path, headers = {}] of rows) {
      const response = await app.send(method, path, { headers: { ...headers, authorization } })
      expect([response.code, JSON.parse(response.body).reason], path).to.deep.equal([401, 'Unauthorized'])
    }
    for (const path of [
      '/oauth/userinfo/',
      '/oauth/logout',
      '/oauth/keys',
      '/oauth/authorize',
      '/oauth/session',
    ]) {
      const { code, headers, body } = await app.send('GET', path, { headers: { authorization } })
      const withoutCredential = await app.send('GET', path)
      expect([code, headers.location, body], path).to.deep.equal([
        withoutCredential.code,
        withoutCredential.headers.location,
        withoutCredential.body,
      ])
    }
    expect(app.sessions.size).to.equal(0)
  })

  it('never logs a password', async () => {
    for (const credential of ['alice:Secret-1', 'Secret-1:right', 'Secret-1', 'disabled:right'])
      await send(basic(credential))
    const text = JSON.stringify(app.lines)
    expect(text).to.not.include('Secret-1')
    expect(text).to.not.include(Buffer.from('Secret-1').toString('base64').slice(0, 8))
  })
})

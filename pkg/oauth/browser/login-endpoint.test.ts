import { expect } from 'chai'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'
import { type Browser, createBrowser, hiddenFieldsOf, locationOf } from './fixtures.ts'

describe('the login page', () => {
  let app: TestApp
  let browser: Browser
  before(async () => {
    app = await startApp()
  })
  beforeEach(() => {
    browser = createBrowser(app)
  })
  after(() => app.close())

  it('forbids third-party scripts, styles and frames, and caching', async () => {
    const { code, headers, body } = await browser.get('/oauth/login?return_to=/oauth/device')
    expect(code).to.equal(200)
    expect(headers).to.include({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    expect(
      body.replace(/<script src="\/oauth\/show-password\.js\?v=[\w-]+" defer><\/script>/, ''),
    ).to.not.match(/<script|<style|\son\w+=|\sstyle=|javascript:/i)
    expect(headers['set-cookie']).to.have.length(1)
    expect(headers['set-cookie']?.[0]).to.match(
      /^__Host-kapis-form=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    )
  })

  it('includes a script only for password fields', async () => {
    const script = /src="(\/oauth\/show-password\.js\?v=[\w-]+)"/
    const [, path = ''] = script.exec((await browser.get('/oauth/login')).body) ?? []
    const response = await browser.get(path)
    expect([response.code, response.headers['content-type']]).to.deep.equal([
      200,
      'text/javascript; charset=utf-8',
    ])
    expect(response.headers['cache-control']).to.equal('public, max-age=31536000, immutable')
    for (const other of ['/oauth/logged-out', '/oauth/logout?post_logout_redirect_uri=x']) {
      const page = await app.send('GET', other, { headers: { accept: 'text/html' } })
      expect(page.headers['content-security-policy'], other).to.not.include('script')
      expect(page.body, other).to.include('</html>').and.not.include('<script')
    }
  })

  it('logs a browser in, with a cookie for this host only', async () => {
    const response = await browser.logIn('alice', 'right', '/oauth/device?user_code=X')
    expect([response.code, response.headers.location]).to.deep.equal([303, '/oauth/device?user_code=X'])
    expect(response.headers['set-cookie']).to.have.length(1)
    expect(response.headers['set-cookie']?.[0]).to.match(
      /^__Host-kapis-session=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    )
    const page = await browser.get('/oauth/session')
    expect(page.body).to.include('You are <strong>alice</strong>')
    const [session] = [...app.sessions.values()].slice(-1)
    expect(session).to.include({ type: 'Browser', user: 'alice', credential: 'c1', clientId: '', ended: '' })
  })

  it('responds in the same way to a wrong password and an unknown user', async () => {
    const wrong = await browser.logIn('alice', 'wrong')
    const unknown = await browser.logIn('nonexistent', 'wrong')
    expect([wrong.code, unknown.code]).to.deep.equal([400, 400])
    expect(wrong.body).to.include('role="alert"').and.include('The user name or the password is wrong.')
    expect(unknown.body.replaceAll('nonexistent', 'alice')).to.equal(wrong.body)
    expect(browser.cookies.has('__Host-kapis-session')).to.equal(false)
  })

  it('explains that an account is disabled only after the correct password', async () => {
    expect((await browser.logIn('disabled', 'right')).body).to.include('This account is not active.')
    expect((await browser.logIn('disabled', 'wrong')).body).to.include('password is wrong')
  })

  it('escapes user input', async () => {
    const { body } = await browser.logIn('"><script>alert(1)</script>', 'x')
    expect(body)
      .to.include('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"')
      .and.not.include('<script>')
  })

  const elsewhere = [
    'https://evil.test/',
    '//evil.test',
    '/\\evil.test',
    '/oauth/token',
    'javascript:alert(1)',
  ]
  for (const returnTo of elsewhere) {
    it(`never redirects to ${returnTo}`, async () => {
      const page = await browser.get(`/oauth/login?${new URLSearchParams({ return_to: returnTo })}`)
      const fields = {
        ...hiddenFieldsOf(page.body),
        return_to: returnTo,
        username: 'alice',
        password: 'right',
      }
      expect(hiddenFieldsOf(page.body).return_to).to.equal('/oauth/session')
      expect((await browser.post('/oauth/login', fields)).headers.location).to.equal('/oauth/session')
    })
  }

  describe('rejects forged forms (login CSRF)', () => {
    const login = { username: 'alice', password: 'right' }
    const cases: readonly [string, Record<string, string>, Record<string, string>?][] = [
      ['without the CSRF token', { csrf: '' }],
      ['with an invalid CSRF token', { csrf: 'x'.repeat(43) }],
      ['from another origin', {}, { origin: 'https://evil.test' }],
      ['from a hidden origin', {}, { origin: 'null' }],
      ['over plain HTTP', {}, { origin: 'http://kapis.test', 'x-forwarded-host': 'kapis.test' }],
      ['from a sibling site', {}, { 'sec-fetch-site': 'same-site' }],
      ['without the cookie', {}, { cookie: '__Host-other=1' }],
    ]
    for (const [what, fields, headers] of cases) {
      it(what, async () => {
        const page = await browser.get('/oauth/login')
        if (headers?.cookie) browser.cookies.clear()
        const response = await browser.post(
          '/oauth/login',
          { ...hiddenFieldsOf(page.body), ...login, ...fields },
          headers,
        )
        expect(response.code).to.equal(403)
        expect(response.body).to.include('The form did not come from this browser')
        expect(browser.cookies.has('__Host-kapis-session')).to.equal(false)
      })
    }

    it('except forms from the requested host or the issuer', async () => {
      for (const headers of [
        { origin: 'https://kapis.test', 'x-forwarded-host': 'kapis.test', 'sec-fetch-site': 'same-origin' },
        { origin: 'https://localhost:9443', 'x-forwarded-host': 'inner:1' },
      ]) {
        const page = await browser.get('/oauth/login')
        const form = { ...hiddenFieldsOf(page.body), ...login }
        expect((await browser.post('/oauth/login', form, headers)).code).to.equal(303)
      }
    })
  })

  it('issues a new cookie for every login, and ends the previous session (session fixation)', async () => {
    const planted = createBrowser(app)
    await planted.logIn('locked', 'right')
    await planted.logIn('alice', 'right')
    const before = planted.cookies.get('__Host-kapis-session') ?? ''
    browser.cookies.set('__Host-kapis-session', before)
    await browser.logIn('alice', 'right')
    expect(browser.cookies.get('__Host-kapis-session')).to.not.equal(before)
    expect(locationOf(await planted.get('/oauth/session')).pathname).to.equal('/oauth/login')
  })

  it('rejects a cookie that is duplicated, changed, or of a deleted user', async () => {
    await browser.logIn('alice', 'right')
    const value = browser.cookies.get('__Host-kapis-session') ?? ''
    const asks = (cookie: string) => app.send('GET', '/oauth/session', { headers: { cookie } })
    expect((await asks(`__Host-kapis-session=${value}`)).code).to.equal(200)
    for (const cookie of [
      `__Host-kapis-session=${value}; __Host-kapis-session=${value}`,
      `__Host-kapis-session=${value.slice(0, -1)}`,
      `kapis-session=${value}`,
    ])
      expect((await asks(cookie)).code, cookie.slice(0, 30)).to.equal(302)
    app.users.set('alice', memoryUser('alice', { uid: 'another' }))
    expect((await asks(`__Host-kapis-session=${value}`)).code).to.equal(302)
    app.users.set('alice', memoryUser('alice'))
  })

  it('logs out only with its own form', async () => {
    await browser.logIn('alice', 'right')
    const page = await browser.get('/oauth/session')
    expect((await browser.post('/oauth/session', {})).code).to.equal(403)
    // A link from another site leads to a confirmation.
    expect((await browser.get('/oauth/logout')).body).to.include('Log out?')
    expect((await browser.get('/oauth/session')).code).to.equal(200)
    const response = await browser.post('/oauth/session', hiddenFieldsOf(page.body))
    expect([response.code, response.headers.location]).to.deep.equal([303, '/oauth/logged-out'])
    expect((await browser.get('/oauth/session')).code).to.equal(302)
    expect([...app.sessions.values()].at(-1)?.ended).to.equal('logout')
  })

  describe('for a user whose password was set by an administrator', () => {
    beforeEach(() => void app.users.set('new', memoryUser('new', { mustChangePassword: true })))

    it('requires a new password before anything else', async () => {
      const page = await browser.logIn('new', 'right', '/oauth/device')
      expect(page.code).to.equal(200)
      expect(app.lines.findLast(({ audit }) => audit === 'login')).to.include({
        user: 'new',
        outcome: 'pending',
        reason: 'password_to_change',
      })
      expect(page.body).to.include('Change your password')
      expect(browser.cookies.has('__Host-kapis-session')).to.equal(false)
      const fields = hiddenFieldsOf(page.body)
      const chosen = { new_password: 'Another-1', repeat: 'Another-1' }
      const refused: readonly [Record<string, string>, string][] = [
        [{ new_password: 'short', repeat: 'short' }, 'The password must have 8 to 64 characters'],
        [{ new_password: 'Another-1', repeat: 'Another-2' }, 'The passwords do not match.'],
      ]
      for (const [fill, message] of refused) {
        const again = await browser.post('/oauth/password', { ...fields, ...fill })
        expect([again.code, again.body.includes(message)]).to.deep.equal([400, true])
        expect(app.lines.findLast(({ audit }) => audit === 'password')).to.include({
          user: 'new',
          outcome: 'failure',
          reason: 'new_password_refused',
        })
        app.lines.length = 0
      }
      expect((await browser.post('/oauth/password', { ...fields, ...chosen, csrf: 'x' })).code).to.equal(403)
      const done = await browser.post('/oauth/password', { ...fields, ...chosen })
      expect([done.code, done.headers.location]).to.deep.equal([303, '/oauth/device'])
      expect((await browser.get('/oauth/session')).code).to.equal(200)
      // The ticket is invalid, since the password has changed.
      const replayed = await browser.post('/oauth/password', { ...fields, ...chosen })
      expect(locationOf(replayed).pathname).to.equal('/oauth/login')
      expect(app.lines.findLast(({ audit }) => audit === 'password')).to.include({
        outcome: 'failure',
        reason: 'ticket_invalid',
      })
    })

    it('allows its form to redirect to the client', async () => {
      const client = memoryClient('web', { redirectURIs: ['https://app.test/cb'] })
      app.clients.set('web', { client, secret: 's' })
      const page = await browser.logIn('new', 'right', '/oauth/authorize?client_id=web')
      expect(page.headers['content-security-policy']).to.include("form-action 'self' https://app.test;")
    })

    it('requires the ticket of the login', async () => {
      const page = await browser.get('/oauth/login')
      const { csrf = '' } = hiddenFieldsOf(page.body)
      const form = { csrf, username: 'alice', ticket: 'x', new_password: 'Another-1', repeat: 'Another-1' }
      expect(locationOf(await browser.post('/oauth/password', form)).pathname).to.equal('/oauth/login')
    })
  })
})

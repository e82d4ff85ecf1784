import { expect } from 'chai'
import { issuer } from '../../jwt/fixtures.ts'
import { hiddenFieldsOf, locationOf } from '../browser/fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'
import { type Authorization, startAuthorization, state } from './fixtures.ts'

describe('a client with grantMethod prompt', () => {
  let setup: Authorization
  beforeEach(async () => {
    setup = await startAuthorization()
  })
  afterEach(() => setup.app.close())

  const asked = { client_id: 'asks', scope: 'openid email' }
  const open = async (params: Record<string, string> = asked) => {
    if (!setup.browser.cookies.has('__Host-kapis-session')) await setup.browser.logIn('alice', 'right')
    return setup.authorize(params)
  }

  it('prompts the user, shows the requested scopes, and continues', async () => {
    const page = await open()
    expect(page.code).to.equal(200)
    expect(page.headers['content-security-policy']).to.include("form-action 'self' https://app.test;")
    expect(page.headers['x-frame-options']).to.equal('DENY')
    expect(page.body).to.include('<strong>asks</strong> wants to act as you, <strong>alice</strong>')
    expect(page.body).to.include('see your e-mail address').and.not.include('stay logged in')
    const fields = hiddenFieldsOf(page.body)
    expect(
      (await setup.browser.post('/oauth/consent', { ...fields, csrf: 'x', decision: 'allow' })).code,
    ).to.equal(403)
    const done = await setup.browser.post('/oauth/consent', { ...fields, decision: 'allow' })
    expect(done.code).to.equal(303)
    const response = await setup.exchange(locationOf(done).searchParams.get('code') ?? '', {
      client_id: 'asks',
      client_secret: 's',
    })
    expect(response.code).to.equal(200)
    // The consent lasts as long as the login, and only covers the scopes that were allowed.
    expect(locationOf(await open()).searchParams.has('code')).to.equal(true)
    expect((await open({ ...asked, scope: 'openid email profile' })).code).to.equal(200)
    expect((await open({ ...asked, prompt: 'consent' })).code).to.equal(200)
  })

  it('reports to the client that the user denied access, or that a prompt would be needed', async () => {
    const fields = hiddenFieldsOf((await open()).body)
    for (const decision of ['deny', '', 'x']) {
      const { searchParams } = locationOf(await setup.browser.post('/oauth/consent', { ...fields, decision }))
      expect(Object.fromEntries(searchParams)).to.deep.equal({
        error: 'access_denied',
        error_description: 'the user denied access',
        state,
        iss: issuer,
      })
    }
    const silent = locationOf(await open({ ...asked, prompt: 'none' }))
    expect(silent.searchParams.get('error')).to.equal('consent_required')
  })

  it('prompts again for a form of another request or login, which could skip a login', async () => {
    const fields = hiddenFieldsOf((await open()).body)
    const request = new URLSearchParams(fields.request)
    request.set('scope', 'openid email profile')
    const changed = { ...fields, request: String(request), decision: 'allow' }
    const response = await setup.browser.post('/oauth/consent', changed)
    expect([response.code, locationOf(response).pathname]).to.deep.equal([303, '/oauth/authorize'])
    const fresh = new URLSearchParams(fields.request)
    fresh.set('prompt', 'login')
    const { login_proof: proof = '', ...others } = fields
    for (const login_proof of [proof, '', 'x']) {
      const skipped = { ...others, login_proof, request: String(fresh), decision: 'allow' }
      const { pathname, searchParams } = locationOf(await setup.browser.post('/oauth/consent', skipped))
      expect([pathname, searchParams.get('prompt')]).to.deep.equal(['/oauth/authorize', 'login'])
    }
    // The same user, in a new login.
    await setup.browser.logIn('alice', 'right')
    const later = await setup.browser.post('/oauth/consent', { ...fields, decision: 'allow' })
    expect(locationOf(later).pathname).to.equal('/oauth/authorize')
  })

  it('validates the request again when it returns, and prompts a user who logged in in the meantime', async () => {
    const fields = hiddenFieldsOf((await open()).body)
    const evil = new URLSearchParams(fields.request)
    evil.set('redirect_uri', 'https://evil.test/')
    const changed = await setup.browser.post('/oauth/consent', {
      ...fields,
      request: String(evil),
      decision: 'allow',
    })
    expect([changed.code, changed.headers.location]).to.deep.equal([400, undefined])
    setup.app.users.set('bob', memoryUser('bob'))
    await setup.browser.logIn('bob', 'right')
    const response = await setup.browser.post('/oauth/consent', { ...fields, decision: 'allow' })
    expect(locationOf(response).pathname).to.equal('/oauth/login')
  })
})

import { expect } from 'chai'
import { oidcConfig } from '../../iam/identity-provider/fixtures.ts'
import type { RedirectProvider } from '../../iam/identity-provider/identity.ts'
import { createBrowser, locationOf } from '../browser/fixtures.ts'
import { memoryUser, startApp, type TestApp } from '../fixtures.ts'

describe('GET /oauth/callback/{idp}', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
    app.providers.set('sso', { config: oidcConfig('sso'), client: providerOf('given') })
    app.users.set('given', memoryUser('given', { mustChangePassword: true }))
  })
  after(() => app.close())

  it('tells a user who has to change his password first, and logs nobody in', async () => {
    const browser = createBrowser(app)
    const away = locationOf(await browser.get('/oauth/login/sso?return_to=/oauth/device'))
    const state = away.searchParams.get('state')
    const answer = await browser.get(`/oauth/callback/sso?code=x&state=${state}`)
    expect(answer.code).to.equal(400)
    expect(answer.body)
      .to.include(
        'The password of this user was set by an administrator: log in with it and change it first.',
      )
      .and.include('href="/oauth/login?return_to=%2Foauth%2Fdevice"')
    expect(browser.cookies.has('__Host-kapis-session')).to.equal(false)
    expect(app.sessions.size).to.equal(0)
    expect(app.lines.findLast(({ audit }) => audit === 'callback')).to.include({
      user: 'given',
      provider: 'sso',
      reason: 'password_to_change',
    })
  })
})

function providerOf(uid: string): RedirectProvider {
  return {
    kind: 'redirect',
    redirectUrl: '',
    begin: async ({ state }) => new URL(`https://id.test/auth?state=${state}`),
    finish: async () => ({ uid, username: uid, email: '', displayName: '', groups: undefined }),
  }
}

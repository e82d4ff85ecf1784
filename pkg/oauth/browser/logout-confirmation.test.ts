import { expect } from 'chai'
import { type Authorization, startAuthorization, web } from '../authorize/fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'
import { createBrowser, hiddenFieldsOf } from './fixtures.ts'

const bye = 'https://app.test/bye'
const isPage = (body: string) => body.includes('<title>Log out? ')

describe('a logout in a browser that a client requests', () => {
  let setup: Authorization
  let hint: string
  /** The ID token of bob's login at the client. */
  let hintOfBob: string
  beforeEach(async () => {
    setup = await startAuthorization()
    const { app } = setup
    const client = memoryClient('web', {
      redirectURIs: ['https://app.test/cb'],
      postLogoutRedirectURIs: [bye],
    })
    app.clients.set('web', { client, secret: web.client_secret })
    app.users.set('bob', memoryUser('bob'))
    hintOfBob = await idTokenOf('bob')
    hint = await idTokenOf('alice')
  })
  afterEach(() => setup.app.close())

  /** Logs the user in to the browser and the client, and returns the ID token. */
  async function idTokenOf(username: string): Promise<string> {
    await setup.browser.logIn(username, 'right')
    const { id_token } = JSON.parse((await setup.exchange(await setup.codeOf({ scope: 'openid' }))).body)
    return id_token
  }
  const sidOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? '')).sid
  const isEnded = (token: string) => setup.app.sessions.get(sidOf(token))?.ended !== ''
  const isLoggedIn = async () => (await setup.browser.get('/oauth/session')).code === 200
  const pathOf = (query: Record<string, string>) => `/oauth/logout?${new URLSearchParams(query)}`
  const decide = (body: string, decision: string) =>
    setup.browser.post('/oauth/logout/confirm', { ...hiddenFieldsOf(body), decision })

  const asking: readonly [string, () => Record<string, string>, string][] = [
    ['no parameters', () => ({}), '/oauth/logged-out'],
    ['a client ID', () => ({ client_id: 'web' }), '/oauth/logged-out'],
    ['a post-logout redirect URI', () => ({ client_id: 'web', post_logout_redirect_uri: bye }), bye],
    [
      'a post-logout redirect URI, and a state',
      () => ({ client_id: 'web', post_logout_redirect_uri: bye, state: 'a b' }),
      `${bye}?state=a%20b`,
    ],
    ['the hint of another user', () => ({ id_token_hint: hintOfBob }), '/oauth/logged-out'],
    [
      'the hint of another user, and a post-logout redirect URI',
      () => ({ id_token_hint: hintOfBob, post_logout_redirect_uri: bye, state: 's' }),
      `${bye}?state=s`,
    ],
  ]
  for (const [what, query, target] of asking) {
    it(`requires confirmation of the current user, with ${what}`, async () => {
      const page = await setup.browser.get(pathOf(query()))
      expect([page.code, isPage(page.body), page.headers.location]).to.deep.equal([200, true, undefined])
      expect(page.body).to.include('<strong>alice</strong>')
      expect([await isLoggedIn(), isEnded(hint), isEnded(hintOfBob)]).to.deep.equal([true, false, false])
      const stays = await decide(page.body, 'stay')
      expect(stays.headers.location).to.equal(target === '/oauth/logged-out' ? '/oauth/session' : target)
      expect([await isLoggedIn(), isEnded(hintOfBob)]).to.deep.equal([true, false])
      const done = await decide(page.body, 'logout')
      expect([done.code, done.headers.location]).to.deep.equal([303, target])
      expect([await isLoggedIn(), isEnded(hintOfBob)]).to.deep.equal([false, 'id_token_hint' in query()])
      // A user who is already logged out is redirected.
      const again = await setup.browser.get(pathOf(query()))
      expect([again.code, again.headers.location]).to.deep.equal([302, target])
    })
  }

  it('needs no confirmation if the hint names the current user', async () => {
    const query = { id_token_hint: hint, post_logout_redirect_uri: bye, state: 's' }
    const response = await setup.browser.get(pathOf(query))
    expect([response.code, response.headers.location]).to.deep.equal([302, `${bye}?state=s`])
    expect([await isLoggedIn(), isEnded(hint), isEnded(hintOfBob)]).to.deep.equal([false, true, false])
  })

  it('ends the sessions of other clients in this browser, and none of the previous user', async () => {
    const other = await idTokenOf('alice')
    await setup.browser.get(pathOf({ id_token_hint: hint }))
    expect([isEnded(hint), isEnded(other), isEnded(hintOfBob)]).to.deep.equal([true, true, false])
  })

  it('works in the same way with a cross-site form, which arrives without the cookie', async () => {
    for (const [query, isAsked] of [
      [{ id_token_hint: hint, post_logout_redirect_uri: bye, state: 's' }, false],
      [{ client_id: 'web', post_logout_redirect_uri: bye, state: 's' }, true],
    ] as const) {
      if (!(await isLoggedIn())) await setup.browser.logIn('alice', 'right')
      const foreign = createBrowser(setup.app)
      const sent = await foreign.post('/oauth/logout', query)
      expect(sent.code).to.equal(303)
      expect(sent.headers.location).to.match(/^\/oauth\/logout\/confirm\?ticket=[\w.-]+$/)
      const next = await setup.browser.get(sent.headers.location as string)
      expect([next.code, isPage(next.body)]).to.deep.equal([isAsked ? 200 : 302, isAsked])
      expect(await isLoggedIn()).to.equal(isAsked)
      if (!isAsked) expect(next.headers.location).to.equal(`${bye}?state=s`)
    }
  })

  it('accepts no confirmation from another site, and none about another user', async () => {
    const { body } = await setup.browser.get(pathOf({}))
    const fields = { ...hiddenFieldsOf(body), decision: 'logout' }
    expect((await setup.browser.post('/oauth/logout/confirm', { ...fields, csrf: 'x' })).code).to.equal(403)
    expect((await setup.browser.post('/oauth/logout/confirm', { ...fields, ticket: 'x' })).code).to.equal(400)
    await setup.browser.logIn('bob', 'right')
    const again = await setup.browser.post('/oauth/logout/confirm', fields)
    expect(isPage(again.body)).to.equal(true)
    expect(again.body).to.include('<strong>bob</strong>')
    expect(await isLoggedIn()).to.equal(true)
  })

  it('records its outcome in the audit log', async () => {
    const last = () => setup.app.lines.findLast(({ audit }) => audit === 'logout')
    const { body } = await setup.browser.get(pathOf({ client_id: 'web' }))
    expect(last()).to.include({ outcome: 'pending', reason: 'confirmation_required', client: 'web' })
    await decide(body, 'stay')
    expect(last()).to.include({ outcome: 'failure', reason: 'logout_refused', user: 'alice' })
    await decide(body, 'logout')
    expect(last()).to.include({ outcome: 'success', user: 'alice' })
  })

  const wrong: readonly [string, () => Record<string, string>][] = [
    ['an unregistered redirect URI', () => ({ id_token_hint: hint, post_logout_redirect_uri: `${bye}/` })],
    ['a redirect URI without a client', () => ({ post_logout_redirect_uri: bye })],
    ['a changed hint', () => ({ id_token_hint: `${hint.slice(0, -8)}AAAAAAAA` })],
    ['a hint of another client', () => ({ id_token_hint: hint, client_id: 'asks' })],
    [
      'a state that is too long',
      () => ({
        id_token_hint: hint,
        post_logout_redirect_uri: bye,
        state: 'x'.repeat(8192),
      }),
    ],
  ]
  for (const [what, query] of wrong) {
    it(`shows an error page with a link, with ${what}`, async () => {
      const page = await setup.browser.get(pathOf(query()))
      expect([page.code, page.headers.location]).to.deep.equal([400, undefined])
      expect(page.headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(page.body).to.include('You are still logged in as <strong>alice</strong>')
      expect(page.body).to.include('href="/oauth/session"')
      expect([await isLoggedIn(), isEnded(hint)]).to.deep.equal([true, false])
      const withoutSession = await createBrowser(setup.app).get(pathOf(query()))
      expect(withoutSession.body).to.include('You are not logged in with this browser')
    })
  }

  it('returns an error in JSON to a program', async () => {
    const response = await setup.app.send('GET', pathOf({ post_logout_redirect_uri: bye }))
    expect([response.code, JSON.parse(response.body).error]).to.deep.equal([400, 'invalid_request'])
  })

  it('is not performed by HEAD', async () => {
    const sent = await createBrowser(setup.app).post('/oauth/logout', { id_token_hint: hint })
    expect((await setup.browser.head(sent.headers.location as string)).code).to.equal(405)
    expect(await isLoggedIn()).to.equal(true)
  })
})

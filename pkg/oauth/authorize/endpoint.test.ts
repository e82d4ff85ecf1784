import { expect } from 'chai'
import { issuer } from '../../token/fixtures.ts'
import { hiddenFieldsOf, locationOf } from '../browser/fixtures.ts'
import { memoryUser } from '../fixtures.ts'
import {
  type Authorization,
  authorizePath,
  challenge,
  redirectUri,
  startAuthorization,
  state,
} from './fixtures.ts'

describe('/oauth/authorize', () => {
  let setup: Authorization
  beforeEach(async () => {
    setup = await startAuthorization()
  })
  afterEach(() => setup.app.close())

  describe('never sends anybody to where it may not', () => {
    const cases: readonly [string, Record<string, string | undefined>, string, string][] = [
      ['an unknown client', { client_id: 'x' }, 'invalid_client', 'the OAuth client was not found'],
      ['no client', { client_id: undefined }, 'invalid_client', 'the OAuth client was not found'],
      ...['https://evil.test/', `${redirectUri}/..`, '//evil.test', `${redirectUri}#`, 'javascript:1'].map(
        uri =>
          [
            `redirect_uri ${uri}`,
            { redirect_uri: uri },
            'invalid_request',
            'redirect URL is not allowed',
          ] as [string, Record<string, string>, string, string],
      ),
      [
        'no redirect_uri where there are two',
        { client_id: 'spa', redirect_uri: undefined },
        'invalid_request',
        'the parameter redirect_uri is required',
      ],
    ]
    for (const [what, params, error, description] of cases) {
      it(what, async () => {
        const answer = await setup.app.ask('GET', authorizePath(params))
        expect(answer.code).to.equal(400)
        expect(answer.headers.location).to.equal(undefined)
        expect(JSON.parse(answer.body)).to.deep.equal({ error, error_description: description })
        const page = await setup.authorize(params)
        expect([page.code, page.headers.location]).to.deep.equal([400, undefined])
        expect(page.headers['content-type']).to.equal('text/html; charset=utf-8')
        expect(page.body).to.include('That did not work').and.include(error)
      })
    }

    it('a parameter that is given twice', async () => {
      const answer = await setup.app.ask('GET', `${authorizePath()}&redirect_uri=https%3A%2F%2Fevil.test`)
      expect([answer.code, answer.headers.location]).to.deep.equal([400, undefined])
    })
  })

  describe('tells the client of its errors, with state and iss', () => {
    const cases: readonly [string, Record<string, string | undefined>, string, string?][] = [
      [
        'no response_type',
        { response_type: undefined },
        'invalid_request',
        'the parameter response_type is required',
      ],
      [
        'token',
        { response_type: 'token' },
        'unsupported_response_type',
        'the parameter response_type must be code',
      ],
      [
        'a hybrid',
        { response_type: 'code id_token' },
        'unsupported_response_type',
        'the parameter response_type must be code',
      ],
      [
        'response_mode',
        { response_mode: 'fragment' },
        'invalid_request',
        'the parameter response_mode must be query',
      ],
      ['a broken scope', { scope: 'a"b' }, 'invalid_scope', 'the parameter scope is malformed'],
      [
        'a client without the grant',
        { client_id: 'none' },
        'unauthorized_client',
        'the client may not use the authorization code grant',
      ],
      [
        'grantMethod deny',
        { client_id: 'denies' },
        'access_denied',
        'nobody may be logged in to this client',
      ],
      [
        'a public client without PKCE',
        { client_id: 'spa' },
        'invalid_request',
        'the parameter code_challenge is required of a public client',
      ],
      [
        'plain PKCE',
        { code_challenge: challenge, code_challenge_method: 'plain' },
        'invalid_request',
        'the parameter code_challenge_method must be S256',
      ],
      [
        'an unknown prompt',
        { prompt: 'x' },
        'invalid_request',
        'the parameter prompt must be among none, login, consent, select_account',
      ],
      [
        'prompt=none and more',
        { prompt: 'none login' },
        'invalid_request',
        'prompt=none goes with no other prompt',
      ],
      ['prompt=none without a login', { prompt: 'none' }, 'login_required'],
      ['max_age', { max_age: '-1' }, 'invalid_request', 'the parameter max_age must be a number of seconds'],
      [
        'a long nonce',
        { nonce: 'x'.repeat(513) },
        'invalid_request',
        'the parameter nonce is longer than 512 characters',
      ],
      ['a request object', { request: 'x' }, 'request_not_supported'],
      ['a request_uri', { request_uri: 'https://x' }, 'request_uri_not_supported'],
    ]
    for (const [what, params, error, description] of cases) {
      it(what, async () => {
        const answer = await setup.authorize(params)
        expect(answer.code).to.equal(302)
        expect(answer.headers.location).to.match(/^https:\/\/app\.test\/cb\?/)
        expect(Object.fromEntries(locationOf(answer).searchParams)).to.deep.equal({
          error,
          ...(description === undefined ? {} : { error_description: description }),
          state,
          iss: issuer,
        })
      })
    }
  })

  it('leads to the login page and back', async () => {
    const toLogin = await setup.authorize({ prompt: 'login', max_age: '0', login_hint: 'alice' })
    expect(toLogin.code).to.equal(302)
    const page = await setup.browser.get(toLogin.headers.location as string)
    expect(page.body).to.include('value="alice"')
    expect(page.headers['content-security-policy']).to.include("form-action 'self' https://app.test;")
    const fields = { ...hiddenFieldsOf(page.body), username: 'alice', password: 'right' }
    const back = await setup.browser.post('/oauth/login', fields)
    const done = await setup.browser.get(back.headers.location as string)
    const { code, ...rest } = Object.fromEntries(locationOf(done).searchParams)
    expect(code).to.be.a('string')
    expect(rest).to.deep.equal({ state, iss: issuer })
  })

  it('takes a form by way of the same by GET', async () => {
    const answer = await setup.browser.post(
      '/oauth/authorize',
      Object.fromEntries(new URL(authorizePath(), issuer).searchParams),
    )
    expect([answer.code, answer.headers.location]).to.deep.equal([303, authorizePath()])
  })

  it('asks again for a login that is too old, or of somebody else', async () => {
    await setup.browser.logIn('alice', 'right')
    const { id_token } = JSON.parse((await setup.exchange(await setup.codeOf({ scope: 'openid' }))).body)
    const isCode = async (params: Record<string, string>) =>
      locationOf(await setup.authorize(params)).searchParams.has('code')
    expect(await isCode({ max_age: '60' })).to.equal(true)
    expect(await isCode({ id_token_hint: id_token, prompt: 'none' })).to.equal(true)
    expect(await isCode({ prompt: 'login' })).to.equal(false)
    expect(await isCode({ prompt: 'select_account' })).to.equal(false)
    await new Promise(resolve => setTimeout(resolve, 1100))
    expect(locationOf(await setup.authorize({ max_age: '0' })).pathname).to.equal('/oauth/login')
    setup.app.users.set('bob', memoryUser('bob'))
    await setup.browser.logIn('bob', 'right')
    const error = locationOf(
      await setup.authorize({ id_token_hint: id_token, prompt: 'none' }),
    ).searchParams.get('error')
    expect(error).to.equal('login_required')
  })

  it("lets a client end its login and the browser's together", async () => {
    const { id_token } = JSON.parse((await setup.exchange(await setup.codeOf({ scope: 'openid' }))).body)
    const answer = await setup.browser.get(`/oauth/logout?id_token_hint=${id_token}`)
    expect([answer.code, answer.headers.location]).to.deep.equal([302, '/oauth/logged-out'])
    expect((await setup.authorize({ prompt: 'none' })).headers.location).to.include('login_required')
  })
})

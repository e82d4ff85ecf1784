import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { issuer } from '../../jwt/fixtures.ts'
import { createBrowser, hiddenFieldsOf, locationOf } from '../browser/fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'
import type { HttpResponse } from '../request-fixtures.ts'
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

  describe('never redirects to an unregistered URI', () => {
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
        const response = await setup.app.send('GET', authorizePath(params))
        expect(response.code).to.equal(400)
        expect(response.headers.location).to.equal(undefined)
        expect(JSON.parse(response.body)).to.deep.equal({ error, error_description: description })
        const page = await setup.authorize(params)
        expect([page.code, page.headers.location]).to.deep.equal([400, undefined])
        expect(page.headers['content-type']).to.equal('text/html; charset=utf-8')
        expect(page.body).to.include('Request failed').and.include(error)
      })
    }

    for (const more of [
      'redirect_uri=https%3A%2F%2Fevil.test',
      `redirect_uri=${encodeURIComponent(redirectUri)}`,
      'redirect_uri=%zz',
      'client_id=spa',
      'client_id=web',
      'cl%69ent_id=spa',
    ]) {
      it(`rejects a repeated redirect parameter: ${more}`, async () => {
        for (const method of ['GET', 'POST']) {
          const response = await setup.app.send(method, `${authorizePath()}&${more}`)
          expect([response.code, response.headers.location]).to.deep.equal([400, undefined])
        }
      })
    }
  })

  describe('reports errors to the client, with state and iss', () => {
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
      ['grantMethod deny', { client_id: 'denies' }, 'access_denied', 'logins are disabled for this client'],
      [
        'a public client without PKCE',
        { client_id: 'spa' },
        'invalid_request',
        'the parameter code_challenge is required for public clients',
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
        'prompt=none cannot be combined with another prompt',
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
        const response = await setup.authorize(params)
        expect(response.code).to.equal(302)
        expect(response.headers.location).to.match(/^https:\/\/app\.test\/cb\?/)
        expect(Object.fromEntries(locationOf(response).searchParams)).to.deep.equal({
          error,
          ...(description === undefined ? {} : { error_description: description }),
          state,
          iss: issuer,
        })
      })
    }
  })

  describe('reports malformed parameters to the client', () => {
    const twice = (name: string) => `the parameter ${name} is given more than once`
    const broken = (where: string) => `the ${where} contains an invalid percent-encoding`
    const cases: readonly [string, (method: string) => string, string | undefined][] = [
      ['scope=openid&scope=email', () => twice('scope'), state],
      ['nonce=a&nonce=a', () => twice('nonce'), state],
      ['unheard-of=1&unheard-of=2', () => twice('unheard-of'), state],
      ['state=another', () => twice('state'), undefined],
      ['nonce=%zz', method => broken(method === 'GET' ? 'query' : 'body'), state],
      ['%zz=1', method => broken(method === 'GET' ? 'query' : 'body'), state],
      [`x=${'x'.repeat(8192)}`, () => 'the authorization request is longer than 8192 characters', state],
    ]
    for (const [more, description, back] of cases) {
      for (const method of ['GET', 'POST']) {
        it(`${method} ${more.slice(0, 40)}`, async () => {
          const path = `${authorizePath()}&${more}`
          const response =
            method === 'GET'
              ? await setup.browser.get(path)
              : await setup.app.send('POST', '/oauth/authorize', {
                  headers: { 'content-type': 'application/x-www-form-urlencoded' },
                  body: path.slice(path.indexOf('?') + 1),
                })
          expect(response.code).to.equal(method === 'GET' ? 302 : 303)
          expect(Object.fromEntries(locationOf(response).searchParams)).to.deep.equal({
            error: 'invalid_request',
            error_description: description(method),
            ...(back === undefined ? {} : { state: back }),
            iss: issuer,
          })
        })
      }
    }

    it('omits a state that is too long to be returned', async () => {
      const response = await setup.authorize({ state: 'x'.repeat(8193) })
      expect([...locationOf(response).searchParams.keys()]).to.have.members([
        'error',
        'error_description',
        'iss',
      ])
    })

    it('accepts several resources (RFC 8707)', async () => {
      await setup.browser.logIn('alice', 'right')
      const resources = ['https://a.test/', 'https://b.test/']
      const more = resources.map(uri => `&resource=${encodeURIComponent(uri)}`).join('')
      const code = await setup.browser.get(`${authorizePath()}${more}`)
      expect(locationOf(code).searchParams.has('code')).to.equal(true)
      const toLogin = await setup.browser.get(`${authorizePath({ prompt: 'login' })}${more}`)
      const returnTo = locationOf(toLogin).searchParams.get('return_to') ?? ''
      const back = await setup.browser.logIn('alice', 'right', returnTo)
      const again = await setup.browser.get(back.headers.location as string)
      expect(locationOf(again).searchParams.has('code')).to.equal(true)
      const wrong = await setup.browser.get(`${authorizePath()}${more}&resource=x`)
      expect(locationOf(wrong).searchParams.get('error')).to.equal('invalid_target')
    })
  })

  it('redirects to the login page and back', async () => {
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

  it('turns a form into the same request with GET', async () => {
    const response = await setup.browser.post(
      '/oauth/authorize',
      Object.fromEntries(new URL(authorizePath(), issuer).searchParams),
    )
    expect([response.code, response.headers.location]).to.deep.equal([303, authorizePath()])
  })

  it('requires a new login if the current one is too old, or of another user', async () => {
    await setup.browser.logIn('alice', 'right')
    const { id_token } = JSON.parse((await setup.exchange(await setup.codeOf({ scope: 'openid' }))).body)
    const isCode = async (params: Record<string, string>) =>
      locationOf(await setup.authorize(params)).searchParams.has('code')
    expect(await isCode({ max_age: '60' })).to.equal(true)
    expect(await isCode({ max_age: '2147483647' })).to.equal(true)
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

  describe('requires at most one new login', () => {
    const page = (response: HttpResponse) => locationOf(response).searchParams.get('return_to') ?? ''
    /** Submits the login page of an authorization request, and follows the redirect back to it. */
    async function logInFor(params: Record<string, string>, username: string): Promise<HttpResponse> {
      const toLogin = await setup.authorize(params)
      expect(locationOf(toLogin).pathname).to.equal('/oauth/login')
      const back = await setup.browser.logIn(username, 'right', page(toLogin))
      return setup.browser.get(back.headers.location as string)
    }
    async function hintOf(username: string): Promise<string> {
      await setup.browser.logIn(username, 'right')
      const { id_token } = JSON.parse((await setup.exchange(await setup.codeOf({ scope: 'openid' }))).body)
      return id_token
    }
    const outcome = (response: HttpResponse) => {
      const { pathname, searchParams } = locationOf(response)
      return searchParams.get('error') ?? (searchParams.has('code') ? 'code' : pathname)
    }
    beforeEach(() => setup.app.users.set('bob', memoryUser('bob')))

    for (const params of [
      { prompt: 'login' },
      { prompt: 'select_account' },
      { prompt: 'login select_account' },
      { max_age: '0' },
      { prompt: 'login', max_age: '0' },
    ]) {
      it(`with ${new URLSearchParams(params)}`, async () => {
        await setup.browser.logIn('alice', 'right')
        await sleep('max_age' in params ? 1100 : 0)
        expect(outcome(await logInFor(params, 'alice'))).to.equal('code')
      })

      it(`with ${new URLSearchParams(params)}, and at least once: the return URL by itself leads to the login again`, async () => {
        await setup.browser.logIn('alice', 'right')
        await sleep('max_age' in params ? 1100 : 0)
        const returnTo = page(await setup.authorize(params))
        expect(new URL(returnTo, issuer).searchParams.toString()).to.include(
          String(new URLSearchParams(params)),
        )
        expect(outcome(await setup.browser.get(returnTo))).to.equal('/oauth/login')
        // A proof is only valid for its own request and login.
        const back = await setup.browser.logIn('alice', 'right', returnTo)
        const proof = new URL(back.headers.location as string, issuer).searchParams.get('login_proof') ?? ''
        const other = authorizePath({ ...params, state: 'another' })
        expect(outcome(await setup.browser.get(`${other}&login_proof=${proof}`))).to.equal('/oauth/login')
        expect(outcome(await setup.browser.get(`${returnTo}&login_proof=x`))).to.equal('/oauth/login')
        const again = createBrowser(setup.app)
        await again.logIn('alice', 'right')
        await sleep('max_age' in params ? 1100 : 0)
        expect(outcome(await again.get(back.headers.location as string))).to.equal('/oauth/login')
      })
    }

    it('with the hint of another user: a login as that user, or an error', async () => {
      const id_token_hint = await hintOf('alice')
      await setup.browser.logIn('bob', 'right')
      expect(outcome(await logInFor({ id_token_hint }, 'bob'))).to.equal('login_required')
      const right = await logInFor({ id_token_hint }, 'alice')
      expect(outcome(right)).to.equal('code')
    })

    it('and suggests the user name of the hint', async () => {
      const id_token_hint = await hintOf('alice')
      await setup.browser.logIn('bob', 'right')
      const toLogin = await setup.authorize({ id_token_hint })
      expect(locationOf(toLogin).searchParams.get('login_hint')).to.equal('alice')
    })

    for (const [what, break_] of [
      ['garbage', () => 'garbage'],
      ['of an invalid signature', (hint: string) => `${hint.slice(0, -8)}AAAAAAAA`],
      ['of alg none', (hint: string) => `eyJhbGciOiJub25lIn0.${hint.split('.')[1]}.`],
    ] as const) {
      it(`with a hint that is ${what}, which is ignored`, async () => {
        const id_token_hint = break_(await hintOf('alice'))
        expect(outcome(await setup.authorize({ id_token_hint }))).to.equal('code')
        expect(outcome(await setup.authorize({ id_token_hint, prompt: 'none' }))).to.equal('login_required')
        setup.browser.cookies.delete('__Host-kapis-session')
        expect(outcome(await logInFor({ id_token_hint }, 'alice'))).to.equal('code')
      })
    }

    it('also through the page that changes a password', async () => {
      setup.app.users.set('new', memoryUser('new', { mustChangePassword: true }))
      const returnTo = page(await setup.authorize({ prompt: 'login', max_age: '0' }))
      const change = hiddenFieldsOf((await setup.browser.logIn('new', 'right', returnTo)).body)
      const chosen = { new_password: 'My-Own-Choice-1', repeat: 'My-Own-Choice-1' }
      const back = await setup.browser.post('/oauth/password', { ...change, ...chosen })
      expect(outcome(await setup.browser.get(back.headers.location as string))).to.equal('code')
    })

    it('but no new login after the user has chosen the current one', async () => {
      await setup.browser.logIn('alice', 'right')
      const toLogin = await setup.authorize({ prompt: 'select_account' })
      const { body } = await setup.browser.get(toLogin.headers.location as string)
      const [, href = ''] = /<a class="button" href="([^"]+)">Continue as alice</.exec(body) ?? []
      const chosen = href.replaceAll('&amp;', '&')
      expect(outcome(await setup.browser.get(chosen))).to.equal('code')
      // Selecting an account proves no authentication.
      const proof = new URL(chosen, issuer).searchParams.get('login_proof') ?? ''
      for (const params of [{ prompt: 'login' }, { prompt: 'login select_account' }]) {
        const path = `${authorizePath(params)}&login_proof=${proof}`
        expect(outcome(await setup.browser.get(path))).to.equal('/oauth/login')
        const page = await setup.browser.get((await setup.authorize(params)).headers.location as string)
        expect(page.body).to.not.include('Continue as')
      }
    })
  })

  it('lets a client end its session together with the browser session', async () => {
    const { id_token } = JSON.parse((await setup.exchange(await setup.codeOf({ scope: 'openid' }))).body)
    const response = await setup.browser.get(`/oauth/logout?id_token_hint=${id_token}`)
    expect([response.code, response.headers.location]).to.deep.equal([302, '/oauth/logged-out'])
    expect((await setup.authorize({ prompt: 'none' })).headers.location).to.include('login_required')
  })
})

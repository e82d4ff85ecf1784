import { expect } from 'chai'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient } from '../memory-fixtures.ts'
import type { HttpResponse } from '../request-fixtures.ts'

const alice = { grant_type: 'password', username: 'alice', password: 'right' }
const formType = 'application/x-www-form-urlencoded'
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

const required = (name: string) => ({
  error: 'invalid_request',
  error_description: `the parameter ${name} is required`,
})

describe('POST /oauth/token', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())

  function expectError(response: HttpResponse, code: number, body: object) {
    expect(response.code).to.equal(code)
    expect(JSON.parse(response.body)).to.deep.equal(body)
    expect(response.headers['content-type']).to.equal('application/json; charset=utf-8')
    expect(response.headers['cache-control']).to.equal('no-store')
    expect(response.headers.pragma).to.equal('no-cache')
    expect(response.headers['x-powered-by']).to.equal(undefined)
  }

  it('returns both tokens, and forbids caching', async () => {
    const response = await app.token(alice)
    expect(response.code).to.equal(200)
    const { access_token, refresh_token, ...rest } = JSON.parse(response.body)
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200 })
    expect(response.headers['content-type']).to.equal('application/json; charset=utf-8')
    expect(response.headers['cache-control']).to.equal('no-store')
    expect(response.headers.pragma).to.equal('no-cache')
    const claims = await app.tools.verifier.verifyAccess(access_token)
    expect(claims).to.include({ sub: 'alice', clientId: 'kapis', scope: '' })
    expect(await app.tools.verifier.verifyRefresh(refresh_token)).to.include({ sid: claims.sid })
    expect(app.sessions.get(claims.sid)).to.include({ user: 'alice', userUid: 'uid-alice', credential: 'c1' })
  })

  it('keeps the other sessions of a user, unless only one is allowed', async () => {
    const sidOf = async (response: HttpResponse) =>
      (await app.tools.verifier.verifyAccess(JSON.parse(response.body).access_token)).sid
    const [first, second] = [await sidOf(await app.token(alice)), await sidOf(await app.token(alice))]
    expect([first, second].map(sid => app.sessions.get(sid)?.ended)).to.deep.equal(['', ''])
    app.tools.multipleLogin = () => false
    try {
      const third = await sidOf(await app.token(alice))
      const ends = [first, second, third].map(sid => app.sessions.get(sid)?.ended)
      expect(ends).to.deep.equal(['another login', 'another login', ''])
    } finally {
      app.tools.multipleLogin = () => true
    }
  })

  it('accepts an e-mail address as the user name', async () => {
    expect(await app.token({ ...alice, username: 'alice@kapis.io' })).to.include({ code: 200 })
  })

  it('returns the granted scope if it differs from the requested one', async () => {
    const granted = JSON.parse((await app.token({ ...alice, scope: 'openid admin' })).body)
    expect(granted.scope).to.equal('openid')
    const exact = JSON.parse((await app.token({ ...alice, scope: 'openid email' })).body)
    expect(exact).to.not.have.property('scope')
  })

  describe('client authentication', () => {
    const right: readonly [string, Record<string, string>, Record<string, string>][] = [
      ['with form fields', { client_id: 'kapis', client_secret: 'kapis' }, {}],
      ['by Basic', {}, { authorization: basic('kapis', 'kapis') }],
      ['with Basic in lower case', {}, { authorization: basic('kapis', 'kapis').replace('Basic', 'basic') }],
      [
        'with Basic and a matching client_id',
        { client_id: 'kapis' },
        { authorization: basic('kapis', 'kapis') },
      ],
      ['with colon, space and umlaut, in Basic', {}, { authorization: basic('a:b c', 'p%41+ä') }],
      [
        'with Basic that is not form-encoded',
        {},
        { authorization: `Basic ${Buffer.from('a%3Ab+c:p%41+ä').toString('base64')}` },
      ],
      ['with colon, space and umlaut, in a form', { client_id: 'a:b c', client_secret: 'p%41+ä' }, {}],
    ]
    for (const [what, form, headers] of right) {
      it(`succeeds ${what}`, async () => {
        expect(await app.token({ ...alice, ...form }, headers)).to.include({ code: 200 })
      })
    }

    it('is locked after too many wrong secrets, for that address and client only', async () => {
      const from = (address: string) => ({ 'x-forwarded-for': address })
      const guess = (client_id: string, address: string, client_secret = 'wrong') =>
        app.token({ ...alice, client_id, client_secret }, from(address))
      for (let i = 0; i < 30; i++) expect(await guess('kapis', '198.51.100.1')).to.include({ code: 401 })
      for (const secret of ['wrong', 'kapis']) {
        const response = await guess('kapis', '198.51.100.1', secret)
        expectError(response, 429, {
          error: 'invalid_client',
          error_description: 'too many wrong client secrets from this address',
        })
        expect(Number(response.headers['retry-after'])).to.be.within(50, 60)
      }
      expect(await guess('kapis', '198.51.100.2', 'kapis')).to.include({ code: 200 })
      expect(await guess('a:b c', '198.51.100.1', 'p%41+ä')).to.include({ code: 200 })
      // An IPv6 /64 network counts as one client address.
      for (let i = 0; i < 30; i++) await guess('kapis', `2001:db8::${i}`)
      expect(await guess('kapis', '2001:db8::ffff', 'kapis')).to.include({ code: 429 })
    })

    const unknown = { error: 'invalid_client', error_description: 'the OAuth client was not found' }
    const wrong = { error: 'invalid_client', error_description: 'invalid client credential' }
    const unreadable = {
      error: 'invalid_client',
      error_description: 'invalid Basic credential',
    }
    const twoWays = {
      error: 'invalid_request',
      error_description: 'the client must use only one authentication method',
    }
    const challenge = 'Basic realm="kapis", charset="UTF-8"'
    const refused: readonly [
      string,
      Record<string, string>,
      Record<string, string>,
      number,
      object,
      string?,
    ][] = [
      ['without a name', { client_id: '' }, {}, 401, unknown],
      ['that is unknown', { client_id: 'nonexistent', client_secret: 'kapis' }, {}, 401, unknown],
      ['with a wrong secret', { client_id: 'kapis', client_secret: 'x' }, {}, 401, wrong],
      ['without a secret', { client_id: 'kapis' }, {}, 401, wrong],
      ['with a secret in capitals', { client_id: 'kapis', client_secret: 'KAPIS' }, {}, 401, wrong],
      ['that is public and has a secret', { client_id: 'cli', client_secret: 'x' }, {}, 401, wrong],
      ['by an inherited name', { client_id: '__proto__', client_secret: '' }, {}, 401, unknown],
      ['unknown, by Basic', {}, { authorization: basic('nonexistent', 'x') }, 401, unknown, challenge],
      ['wrong, by Basic', {}, { authorization: basic('kapis', 'x') }, 401, wrong, challenge],
      ['empty Basic', {}, { authorization: 'Basic' }, 401, unreadable, challenge],
      ['broken Basic', {}, { authorization: 'Basic !!!' }, 401, unreadable, challenge],
      ['Basic without colon', {}, { authorization: 'Basic a2FwaXM=' }, 401, unreadable, challenge],
      ['in two ways', { client_secret: 'kapis' }, { authorization: basic('kapis', 'kapis') }, 400, twoWays],
      ['under two names', { client_id: 'cli' }, { authorization: basic('kapis', 'kapis') }, 400, twoWays],
    ]
    for (const [what, form, headers, code, body, authenticate] of refused) {
      it(`fails: ${what}`, async () => {
        const response = await app.token({ ...alice, ...form }, headers)
        expectError(response, code, body)
        expect(response.headers['www-authenticate']).to.equal(authenticate)
      })
    }

    it('rejects a grant that the client may not use', async () => {
      expectError(await app.token({ ...alice, client_id: 'cli' }), 400, {
        error: 'unauthorized_client',
        error_description: 'the client may not use this grant type',
      })
    })

    it('grants a restricted client no other scope', async () => {
      const client = memoryClient('narrow', { scopeRestrictions: ['openid'] })
      app.clients.set('narrow', { client, secret: 's' })
      const form = { ...alice, client_id: 'narrow', client_secret: 's', scope: 'openid email' }
      expect(JSON.parse((await app.token(form)).body).scope).to.equal('openid')
    })

    it('is checked before the grant', async () => {
      expect(await app.token({ grant_type: 'nothing', client_id: 'nonexistent' })).to.include({ code: 401 })
    })
  })

  describe('grant type', () => {
    it('is required (RFC 6749 section 5.2)', async () => {
      expectError(await app.token({ ...alice, grant_type: '' }), 400, required('grant_type'))
    })

    for (const grant of ['implicit', 'Password', '__proto__']) {
      it(`is rejected if it is ${grant}`, async () => {
        expectError(await app.token({ ...alice, grant_type: grant }), 400, {
          error: 'unsupported_grant_type',
        })
      })
    }
  })

  describe('password', () => {
    const incorrect = { error: 'invalid_grant', error_description: 'incorrect password' }
    const refused: readonly [string, Record<string, string>, number, object][] = [
      ['a wrong password', { password: 'wrong' }, 400, incorrect],
      ['a password in capitals', { password: 'RIGHT' }, 400, incorrect],
      ['an unknown user', { username: 'nonexistent' }, 400, incorrect],
      ['a missing user', { username: '' }, 400, required('username')],
      ['a missing password', { password: '' }, 400, required('password')],
      ['a user without a password', { username: 'nopassword' }, 400, incorrect],
      ['a wrong password of a disabled user', { username: 'disabled', password: 'x' }, 400, incorrect],
      [
        'a disabled user',
        { username: 'disabled' },
        400,
        { error: 'invalid_grant', error_description: 'account is not active' },
      ],
      [
        'a locked user',
        { username: 'locked' },
        429,
        { error: 'invalid_grant', error_description: 'auth rate limit exceeded' },
      ],
      [
        'a malformed scope',
        { scope: 'a"b' },
        400,
        { error: 'invalid_scope', error_description: 'the parameter scope is malformed' },
      ],
      [
        'a very long scope',
        { scope: 'a'.repeat(2000) },
        400,
        { error: 'invalid_scope', error_description: 'the parameter scope is malformed' },
      ],
    ]
    for (const [what, changes, code, body] of refused) {
      it(`rejects ${what}`, async () => {
        const response = await app.token({ ...alice, ...changes })
        expectError(response, code, body)
        expect(response.headers['retry-after']).to.equal(code === 429 ? '600' : undefined)
      })
    }
  })

  describe('body', () => {
    const client = 'client_id=kapis&client_secret=kapis'
    const form = `grant_type=password&username=alice&password=right&${client}`
    const media = { error: 'invalid_request', error_description: `the body must be ${formType}` }
    const post = (body: string, headers: Record<string, string> = { 'content-type': formType }, query = '') =>
      app.send('POST', `/oauth/token${query}`, { headers, body })

    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'nonsense']) {
      it(`of type ${type} is rejected with 415`, async () => {
        const response = await post(form, { 'content-type': type })
        expectError(response, 415, media)
        expect(response.headers['accept-post']).to.equal(formType)
      })
    }
    it('without a type is rejected with 415', async () => {
      expectError(await post(form, {}), 415, media)
    })
    it('that is missing is rejected with 415', async () => {
      expectError(await app.send('POST', '/oauth/token'), 415, media)
    })
    it('may contain several resources (RFC 8707), which are absolute URIs', async () => {
      const resource = (...values: readonly string[]) =>
        values.map(value => `&resource=${encodeURIComponent(value)}`).join('')
      const good = ['https://a.example.org', 'https://a.example.org/b?c=d', 'urn:x:y']
      for (const values of [good, good.slice(0, 1), [...good, ...good], ['']])
        expect(await post(form + resource(...values)), String(values)).to.include({ code: 200 })
      for (const wrong of ['/a', 'a.example.org', 'https://a.example.org#x', 'https://a.example.org x'])
        expectError(await post(form + resource('https://a.example.org', wrong)), 400, {
          error: 'invalid_target',
          error_description: 'the parameter resource must be an absolute URI without fragment',
        })
    })
    it('may declare its charset', async () => {
      expect(await post(form, { 'content-type': `${formType}; charset=UTF-8` })).to.include({ code: 200 })
    })
    it('contains the parameters: those in the query are ignored', async () => {
      expectError(
        await post(client, undefined, '?grant_type=password&username=alice&password=right'),
        400,
        required('grant_type'),
      )
      expect(await post(form, undefined, '?grant_type=nothing&client_id=nonexistent')).to.include({
        code: 200,
      })
    })
    for (const name of ['grant_type', 'client_id', 'password', 'unheard-of']) {
      it(`with a duplicate ${name} is rejected, with equal values too`, async () => {
        expectError(await post(`${form}&${name}=x&${name}=`), 400, {
          error: 'invalid_request',
          error_description: `the parameter ${name} is given more than once`,
        })
      })
    }
    it('has parameter names that are not quoted in errors', async () => {
      expectError(await post('%22%5C%0a%3Cb%3E=1&%22%5C%0a%3Cb%3E=2'), 400, {
        error: 'invalid_request',
        error_description: 'the parameter ???<b> is given more than once',
      })
    })
    for (const broken of ['password=100%', 'password=%zz', '%=1', 'password=%ff']) {
      it(`with ${broken} is rejected`, async () => {
        expectError(await post(`grant_type=password&username=alice&${client}&${broken}`), 400, {
          error: 'invalid_request',
          error_description: 'the body contains an invalid percent-encoding',
        })
      })
    }
    it('of more than 256 KB is rejected with 413', async () => {
      expectError(await post(`${form}&x=${'y'.repeat(262_144)}`), 413, {
        error: 'invalid_request',
        error_description: 'the body is larger than 256kb',
      })
    })
    it('of another charset is rejected with 415', async () => {
      expectError(await post(form, { 'content-type': `${formType}; charset=nonsense` }), 415, {
        error: 'invalid_request',
        error_description: 'the body must be UTF-8',
      })
    })

    it('of another encoding is rejected with 415, and the supported ones are listed', async () => {
      const response = await post(form, { 'content-type': formType, 'content-encoding': 'compress' })
      expectError(response, 415, {
        error: 'invalid_request',
        error_description: 'the Content-Encoding must be gzip, deflate, br, zstd or identity',
      })
      expect(response.headers['accept-encoding']).to.equal('gzip, deflate, br, zstd')
    })

    for (const encoding of ['gzip', 'deflate', 'br', 'zstd']) {
      it(`that is declared as ${encoding} but is not is rejected with 400`, async () => {
        const headers = { 'content-type': formType, 'content-encoding': encoding }
        expectError(await post(form, headers), 400, {
          error: 'invalid_request',
          error_description: 'failed to read the body',
        })
      })
    }
  })

  describe('audit', () => {
    it('records every outcome, and no credential', async () => {
      app.lines.length = 0
      const headers = { 'x-request-id': 'id-1', 'x-forwarded-for': '192.0.2.1' }
      await app.token(alice, headers)
      await app.token({ ...alice, password: 'hunter2' }, headers)
      await app.token({ ...alice, username: 'hunter2', password: 'hunter2' }, headers)
      await app.token({ ...alice, client_id: 'hunter2', client_secret: 'hunter2' }, headers)
      const common = { id: 'id-1', sourceIp: '192.0.2.1' }
      expect(app.lines.map(({ level, time, program, audit, msg, ...rest }) => rest)).to.deep.equal([
        { ...common, client: 'kapis', grant: 'password', user: 'alice', outcome: 'success' },
        {
          ...common,
          client: 'kapis',
          grant: 'password',
          user: 'alice',
          outcome: 'failure',
          reason: 'wrong_password',
        },
        { ...common, client: 'kapis', grant: 'password', outcome: 'failure', reason: 'unknown_user' },
        { ...common, outcome: 'failure', reason: 'unknown_client' },
      ])
      expect(JSON.stringify(app.lines)).to.not.contain('hunter2')
    })

    it('counts every outcome', async () => {
      const { body } = await app.send('GET', '/metrics')
      expect(body).to.match(
        /^kapis_oauth_token_requests_total\{grant="password",outcome="wrong_password"\} \d+$/m,
      )
      expect(body).to.match(/^kapis_oauth_token_requests_total\{grant="",outcome="unknown_client"\} \d+$/m)
    })
  })

  it('returns 503 until users are loaded, so that a correct password does not seem wrong', async () => {
    app.state.isReady = false
    const response = await app.token(alice)
    app.state.isReady = true
    expectError(response, 503, {
      error: 'temporarily_unavailable',
      error_description: 'kapis-oauth is starting',
    })
    expect(response.headers['retry-after']).to.equal('1')
  })
})

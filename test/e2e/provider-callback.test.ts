import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  type FaultyProvider,
  json,
  type ProviderFaults,
  startFaultyProvider,
} from '../peers/faulty-openid-provider.ts'
import { authorityPem } from '../peers/tls-server.ts'
import { createUserAgent, type Page, type UserAgent } from '../peers/user-agent.ts'
import { kubectlJson, kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { applyProvider, linkOf, openIdDocument, removeProvider, users } from './identity-provider.ts'
import { claimsOf, createUser, credentials, patchUser, removeUser } from './oauth.ts'
import { issuerUrl } from './oauth-clients.ts'
import { setting } from './run.ts'

type Outcome = {
  readonly code: number
  readonly error: string
  readonly description: string
  /** The reason in the audit log. */
  readonly reason: string
}

/**
 * All results of the callback of an identity provider, for programs and for browsers, with the
 * complete response.
 */
describe('the callback of an identity provider', function () {
  this.timeout(120_000)
  const provider = uniqueName('lies')
  const ann = uniqueName('ann')
  const local = uniqueName('local')
  const clientId = credentials.client_id
  let issuer: string
  let upstream: FaultyProvider

  const configure = async (changes: object = {}) => {
    const displayName = uniqueName('Corp')
    const document = openIdDocument(provider, upstream, { displayName, ...changes }, { getUserInfo: true })
    await applyProvider(document)
    await eventually(async () => {
      expect((await sendToKapis('/oauth/login')).body).to.include(displayName)
    }, 20_000)
    return displayName
  }
  const personOf = (sub: string, more: object = {}): ProviderFaults => ({
    claims: good => ({ ...good, sub, preferred_username: sub, email: `${sub}@example.com`, ...more }),
    userinfo: { sub },
  })

  before(async () => {
    issuer = await issuerUrl()
    upstream = await startFaultyProvider('kapis-at-upstream')
    await createUser({ username: local, password: 'Correct horse 1' })
    await configure()
  })
  after(async () => {
    await removeProvider(provider)
    for (const name of [ann, local]) await removeUser(name)
    upstream.close()
  })
  beforeEach(() => {
    upstream.said.lies = personOf(ann)
  })

  const newAgent = (accept: string) =>
    createUserAgent([authorityPem, readFileSync(setting('KAPIS_CA'), 'utf8')], accept)
  const isCallback = (url: URL) => url.pathname === `/oauth/callback/${provider}`

  /** Follows redirects up to the callback. */
  async function untilCallback(agent: UserAgent, query: Readonly<Record<string, string>>): Promise<URL> {
    const start = `${issuer}/login/${provider}?${new URLSearchParams(query)}`
    const last = await agent.open(start, isCallback)
    expect(last.headers.location, last.body).to.be.a('string')
    return new URL(String(last.headers.location), last.url)
  }

  /** Logs in as a program, which gets tokens, and modifies the callback URL. */
  async function asProgram(change: (callback: URL) => void = () => undefined): Promise<Page> {
    const agent = newAgent('application/json')
    const callback = await untilCallback(agent, { client_id: clientId })
    change(callback)
    return agent.open(callback)
  }

  /** Logs in as a browser, which continues on a page, and modifies the callback URL. */
  async function asPerson(change: (callback: URL) => void = () => undefined): Promise<Page> {
    const agent = newAgent('text/html')
    const callback = await untilCallback(agent, { return_to: '/oauth/device' })
    change(callback)
    return agent.open(callback, url => url.pathname === '/oauth/device')
  }

  const headersOf = ({ headers }: Page) => ({
    cache: headers['cache-control'],
    pragma: headers.pragma,
    referrer: headers['referrer-policy'],
    retry: headers['retry-after'],
    location: headers.location,
    challenge: headers['www-authenticate'],
    sniff: headers['x-content-type-options'],
  })
  const expectedHeaders = (code: number) => ({
    cache: 'no-store',
    pragma: 'no-cache',
    referrer: 'no-referrer',
    retry: code === 503 ? '5' : undefined,
    location: undefined,
    challenge: undefined,
    sniff: 'nosniff',
  })
  const wentAway = ({ headers }: Page) =>
    [headers['set-cookie'] ?? []].flat().every(line => /^__Host-kapis-provider-login-.*Max-Age=0/.test(line))

  function linesOf(): readonly Record<string, unknown>[] {
    const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'oauth.log'), 'utf8')
    const lines = log.split('\n').filter(line => line.includes('"audit":"callback"'))
    return lines.filter(line => line.includes(provider)).map(line => JSON.parse(line))
  }

  /** Expects the same result for a program and a browser, with one audit line each. */
  async function expectRejected(
    { code, error, description, reason }: Outcome,
    change?: (callback: URL) => void,
    isOnTheWay = true,
  ): Promise<void> {
    const before = linesOf().length
    const response = await asProgram(change)
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      code,
      { error, error_description: description },
    ])
    expect(response.headers['content-type']).to.equal('application/json; charset=utf-8')
    expect(headersOf(response)).to.deep.equal(expectedHeaders(code))
    expect(wentAway(response), String(response.headers['set-cookie'])).to.equal(true)

    const page = await asPerson(change)
    expect(page.code).to.equal(code)
    expect(page.headers['content-type']).to.equal('text/html; charset=utf-8')
    // Forms of Kapis require the Origin header, which this referrer policy makes browsers send.
    expect(headersOf(page)).to.deep.equal({ ...expectedHeaders(code), referrer: 'same-origin' })
    expect(page.headers['content-security-policy']).to.match(/^default-src 'none'; /)
    expect(wentAway(page), String(page.headers['set-cookie'])).to.equal(true)
    expect(textOf(page)).to.include('You are not logged in')
    const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`
    expect(textOf(page)).to.include(sentence)
    const back = isOnTheWay ? '/oauth/login?return_to=%2Foauth%2Fdevice' : '/oauth/login?return_to='
    expect(page.body).to.include(`href="${back}"`)

    await eventually(async () => {
      const lines = linesOf().slice(before)
      expect(lines).to.have.length(2)
      for (const line of lines) expect(line).to.include({ provider, outcome: 'failure', reason })
    }, 20_000)
  }

  const untrusted: Outcome = {
    code: 400,
    error: 'invalid_grant',
    description: 'the response of the identity provider is not valid',
    reason: 'provider_answer_invalid',
  }
  const down: Outcome = {
    code: 503,
    error: 'temporarily_unavailable',
    description: 'the identity provider returned an invalid response',
    reason: 'provider_failed',
  }
  const late: Outcome = {
    code: 400,
    error: 'invalid_grant',
    description: 'the response of the identity provider was used before, or came too late',
    reason: 'provider_refused',
  }
  const refused = (description: string, reason: string): Outcome => ({
    code: 400,
    error: 'invalid_grant',
    description,
    reason,
  })
  const seconds = () => Math.floor(Date.now() / 1000)
  const rows: readonly [string, () => ProviderFaults, Outcome][] = [
    ['another nonce', () => ({ claims: good => ({ ...good, nonce: 'other' }) }), untrusted],
    ['a missing nonce', () => ({ claims: ({ nonce: _, ...good }) => good }), untrusted],
    ['another audience', () => ({ claims: good => ({ ...good, aud: 'someone' }) }), untrusted],
    ['another issuer', () => ({ claims: good => ({ ...good, iss: 'https://evil.test' }) }), untrusted],
    ['an expired ID token', () => ({ claims: good => ({ ...good, exp: seconds() - 60 }) }), untrusted],
    [
      'an ID token from the future',
      () => ({ claims: good => ({ ...good, nbf: seconds() + 600 }) }),
      untrusted,
    ],
    ['a missing subject', () => ({ claims: ({ sub: _, ...good }) => good }), untrusted],
    ['a signature of another key', () => ({ sign: upstream.forged.byAnotherKey }), untrusted],
    ['an unknown key', () => ({ sign: upstream.forged.byAnUnknownKey }), untrusted],
    ['alg none', () => ({ sign: upstream.forged.unsigned }), untrusted],
    ['an HMAC with its public key', () => ({ sign: upstream.forged.byItsPublicKey }), untrusted],
    [
      'no ID token',
      () => ({ responses: { '/token': res => json(res, 200, { access_token: 'a', token_type: 'Bearer' }) } }),
      untrusted,
    ],
    ['userinfo of another user', () => ({ userinfo: { sub: 'another' } }), untrusted],
    ['userinfo that fails', () => ({ responses: { '/me': res => json(res, 500, { error: 'x' }) } }), down],
    ['userinfo that rejects the token', () => ({ responses: { '/me': res => json(res, 401, {}) } }), down],
    ['a token endpoint that fails', () => ({ responses: { '/token': res => json(res, 500, {}) } }), down],
    [
      'a token endpoint that closes the connection',
      () => ({ responses: { '/token': res => res.destroy() } }),
      down,
    ],
    [
      'a rejected client secret',
      () => ({ responses: { '/token': res => json(res, 401, { error: 'invalid_client' }) } }),
      down,
    ],
    [
      'a rejected code or PKCE verifier',
      () => ({ responses: { '/token': res => json(res, 400, { error: 'invalid_grant' }) } }),
      late,
    ],
    ['another `iss` (RFC 9207)', () => ({ callback: { iss: 'https://evil.test' } }), untrusted],
    [
      'an e-mail address that another user has',
      () => personOf(uniqueName('thief'), { email: `${local}@e2e.test` }),
      refused(
        'the e-mail address belongs to another user; an administrator can link a user to it',
        'email_taken',
      ),
    ],
    [
      'an unverified e-mail address',
      () => personOf(uniqueName('unverified'), { email_verified: false }),
      refused('the identity provider returned no verified e-mail address', 'email_missing'),
    ],
    [
      'a name that another user has',
      () => personOf(local, { email: `${local}@elsewhere.test` }),
      refused(`the user name ${local} is taken; an administrator can link a user to it`, 'user_name_taken'),
    ],
    [
      'a group overage',
      () => personOf(ann, { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'x' } } }),
      refused(
        'the identity provider omitted the groups of this account: there are too many',
        'provider_groups_incomplete',
      ),
    ],
    [
      'groups that are elsewhere',
      () => personOf(ann, { 'groups:src1': 'https://graph.example.com/x' }),
      refused(
        'the identity provider omitted the groups of this account: there are too many',
        'provider_groups_incomplete',
      ),
    ],
    [
      '10,000 groups',
      () => personOf(ann, { groups: Array.from({ length: 10_000 }, (_, i) => `g${i}`) }),
      refused('the identity provider returned 10000 groups; at most 256 are allowed', 'too_many_groups'),
    ],
    ['a subject of 300 characters', () => personOf('x'.repeat(300)), untrusted],
    [
      'a name without a letter or digit',
      () => personOf(uniqueName('odd'), { preferred_username: '\u202e\n' }),
      refused(
        'the name ?? from the identity provider cannot be a user name: it needs a letter or digit, and at most 63 characters',
        'user_name_unusable',
      ),
    ],
    [
      'a token endpoint that responds with HTML',
      () => ({
        responses: {
          '/token': res => res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad</h1>'),
        },
      }),
      down,
    ],
    [
      'groups that are not a list of strings',
      () => personOf(ann, { groups: [{ name: 'blue' }] }),
      refused(
        'the identity provider returned the groups of this account in an unknown format',
        'provider_groups_invalid',
      ),
    ],
  ]
  for (const [what, lies, outcome] of rows) {
    it(`returns ${outcome.code} to ${what}`, async () => {
      const lie = lies()
      const { userinfo } = personOf(ann)
      upstream.said.lies = { ...(userinfo === undefined ? {} : { userinfo }), ...lie }
      await expectRejected(outcome)
    })
  }

  const notBegun = {
    code: 400,
    error: 'invalid_request',
    description: 'the login was not started in this browser, or more than ten minutes ago; start again',
    reason: 'state_mismatch',
  }
  const said = (error: string) => (callback: URL) => {
    callback.searchParams.delete('code')
    callback.searchParams.set('error', error)
    callback.searchParams.set('error_description', '<script>alert(1)</script>')
  }
  const searchOf = (change: (search: string) => string) => (callback: URL) => {
    callback.search = change(callback.search)
  }
  const twice = (name: string, description = `the parameter ${name} is given more than once`): Outcome => ({
    code: 400,
    error: 'invalid_request',
    description,
    reason: 'invalid_request',
  })
  const changes: readonly [string, (callback: URL) => void, Outcome, boolean][] = [
    [
      'an error of the provider',
      said('access_denied'),
      refused('the identity provider rejected the login (access_denied)', 'provider_refused'),
      true,
    ],
    [
      'a malformed error of the provider',
      said('<script>'),
      refused('the identity provider rejected the login', 'provider_refused'),
      true,
    ],
    ['neither a code nor an error', url => url.searchParams.delete('code'), untrusted, true],
    ['an unknown state', url => url.searchParams.set('state', 'x'.repeat(43)), notBegun, false],
    ['a missing state', url => url.searchParams.delete('state'), notBegun, false],
    [
      'an error without a state, which any site could send',
      url => {
        said('access_denied')(url)
        url.searchParams.delete('state')
      },
      notBegun,
      false,
    ],
    ['a ticket (CAS)', searchOf(() => '?ticket=ST-1'), notBegun, false],
    ['two codes', url => url.searchParams.append('code', 'other'), twice('code'), false],
    ['two states', url => url.searchParams.append('state', 'other'), twice('state'), false],
    [
      'an invalid percent-encoding',
      searchOf(search => `${search}&x=%`),
      twice('', 'the query contains an invalid percent-encoding'),
      false,
    ],
  ]
  for (const [what, change, outcome, isOnTheWay] of changes) {
    it(`returns ${outcome.code} to ${what}`, () => expectRejected(outcome, change, isOnTheWay))
  }

  it('rejects POST (response_mode=form_post), and lets the login continue', async () => {
    const agent = newAgent('application/json')
    const callback = await untilCallback(agent, { client_id: clientId })
    const response = await sendToKapis(callback.pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: callback.search.slice(1),
    })
    expect([response.code, JSON.parse(response.body), response.headers.allow]).to.deep.equal([
      405,
      { error: 'invalid_request', error_description: 'method not allowed; supported: GET' },
      'GET',
    ])
    expect((await agent.open(callback)).code).to.equal(200)
  })

  it('returns tokens to a program, and redirects a browser to the requested page', async () => {
    const response = await asProgram()
    const { access_token, refresh_token, ...rest } = JSON.parse(response.body)
    expect([response.code, rest]).to.deep.equal([200, { token_type: 'Bearer', expires_in: 7200 }])
    expect(claimsOf(access_token)).to.include({ sub: ann, client_id: clientId, scope: '' })
    expect(claimsOf(refresh_token)).to.include({ sub: ann, token_type: 'refresh_token' })
    expect(response.headers['content-type']).to.equal('application/json; charset=utf-8')
    expect(headersOf(response)).to.deep.equal(expectedHeaders(200))
    const page = await asPerson()
    expect([page.code, page.headers.location]).to.deep.equal([303, '/oauth/device'])
    expect(page.headers['cache-control']).to.equal('no-store')
    const [login] = [page.headers['set-cookie'] ?? []]
      .flat()
      .filter(line => line.startsWith('__Host-kapis-session'))
    expect(login).to.match(/; Path=\/; Secure; HttpOnly; SameSite=Lax/)
  })

  it('keeps the last groups while their claim is missing, and logs it', async () => {
    const groupsOf = async () => claimsOf(String(JSON.parse((await asProgram()).body).access_token)).groups
    upstream.said.lies = personOf(ann, { groups: ['blue'], auth_time: '2026-11-26T15:00:00Z' })
    expect(await groupsOf()).to.deep.equal(['blue'])
    upstream.said.lies = personOf(ann)
    expect(await groupsOf()).to.deep.equal(['blue'])
    await eventually(async () => {
      const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'oauth.log'), 'utf8')
      const lines = log
        .split('\n')
        .filter(line => line.includes('the identity provider sent no groups for a user'))
      expect(lines.some(line => JSON.parse(line).provider === provider)).to.equal(true)
    }, 20_000)
    upstream.said.lies = personOf(ann, { groups: [] })
    expect(await groupsOf()).to.deep.equal([])
  })

  it('returns the same as a local login to a disabled user', async () => {
    await asProgram()
    await patchUser(ann, { status: { state: 'Disabled' } }, '--subresource=status')
    try {
      await eventually(async () => expect((await asProgram()).code).to.equal(400), 20_000)
      await expectRejected(refused('account is not active', 'user_disabled'))
    } finally {
      await patchUser(ann, { status: { state: 'Active' } }, '--subresource=status')
    }
  })

  it('creates no user for an unlinked account with lookup, manual or confirmation', async () => {
    const stranger = uniqueName('stranger')
    const words: readonly [object, (corp: string) => string][] = [
      [
        { mappingMethod: 'lookup' },
        corp => `no user is linked to this account of ${corp}; an administrator can link a user to it`,
      ],
      [
        { mappingMethod: 'manual' },
        corp => `no user is linked to this account of ${corp}; log in with a browser to link one`,
      ],
      [
        { disableLoginConfirmation: false },
        corp => `the first login with ${corp} must be confirmed; log in with a browser`,
      ],
    ]
    for (const [change, toText] of words) {
      const corp = await configure(change)
      upstream.said.lies = personOf(stranger)
      const response = await asProgram()
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: toText(corp) },
      ])
      expect(headersOf(response)).to.deep.equal(expectedHeaders(400))
      expect(await kubectlOutput('get', users, stranger, '--ignore-not-found')).to.equal('')
      // Once the annotation links the account to a user, the login succeeds.
      await kubectlOutput('annotate', users, local, `${linkOf(provider)}=${stranger}`, '--overwrite')
      await eventually(async () => {
        const { access_token } = JSON.parse((await asProgram()).body)
        expect(claimsOf(String(access_token)).sub).to.equal(local)
      }, 20_000)
      await kubectlOutput('annotate', users, local, `${linkOf(provider)}-`)
      await eventually(async () => expect((await asProgram()).code).to.equal(400), 20_000)
    }
    const { metadata } = Object(await kubectlJson('get', users, local))
    expect(metadata.annotations ?? {}).to.not.have.property(linkOf(provider))
  })

  it('returns 404 for a provider that was removed in the meantime', async () => {
    const agent = newAgent('application/json')
    const callback = await untilCallback(agent, { client_id: clientId })
    await removeProvider(provider)
    await eventually(async () => {
      expect((await sendToKapis(`/oauth/login/${provider}?client_id=${clientId}`)).code).to.equal(404)
    }, 20_000)
    const response = await agent.open(callback)
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      404,
      { error: 'invalid_request', error_description: 'unknown identity provider' },
    ])
    expect(headersOf(response)).to.deep.equal(expectedHeaders(404))
  })
})

function textOf({ body }: Page): string {
  return body.replaceAll('&#39;', '’')
}

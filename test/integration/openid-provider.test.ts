import { createHash, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { Status } from '../../pkg/apierrors/status.ts'
import { createCa } from '../../pkg/certs/issue.ts'
import type { Problem } from '../../pkg/config/config-error.ts'
import { readProviderConfig } from '../../pkg/iam/identityprovider/config.ts'
import type {
  Identity,
  RedirectProvider,
  Transaction,
} from '../../pkg/iam/identityprovider/external-identity.ts'
import { rejectionReason } from '../../pkg/iam/identityprovider/linking/login-error.ts'
import { createOidcProvider } from '../../pkg/iam/identityprovider/oidc/oidc-provider.ts'
import {
  type FaultyProvider,
  json,
  type ProviderFaults,
  startFaultyProvider,
  type UpstreamResponse,
} from '../peers/faulty-openid-provider.ts'
import { authorityPem } from '../peers/tls-server.ts'

const never = new AbortController().signal
const redirectUri = 'https://kapis.test/oauth/callback/op'
const clientSecret = 'upstream secret'

describe('a faulty OpenID provider', function () {
  this.timeout(30_000)
  let upstream: FaultyProvider

  before(async () => {
    upstream = await startFaultyProvider('kapis')
  })
  after(() => upstream.close())
  beforeEach(() => {
    upstream.said.lies = {}
  })
  const lie = (lies: ProviderFaults) => {
    upstream.said.lies = lies
  }

  function provider(changes: object = {}, now?: () => number): RedirectProvider {
    const problems: Problem[] = []
    const document = {
      name: 'op',
      type: 'OIDCIdentityProvider',
      provider: {
        issuer: upstream.url,
        clientID: 'kapis',
        clientSecret,
        rootCAData: authorityPem,
        readTimeout: 10_000,
        ...changes,
      },
    }
    const config = readProviderConfig(document, problems)
    expect(problems).to.deep.equal([])
    if (config?.type !== 'OIDCIdentityProvider') throw new Error('not read')
    return createOidcProvider(config.provider, now)
  }

  async function logIn(changes: object = {}): Promise<Identity> {
    const random = () => createHash('sha256').update(randomUUID()).digest('base64url')
    const transaction: Transaction = { state: random(), nonce: random(), codeVerifier: random(), redirectUri }
    upstream.said.nonce = transaction.nonce
    const client = provider(changes)
    await client.begin(transaction, never)
    return client.finish(new URL(`${redirectUri}?code=c&state=${transaction.state}`), transaction, never)
  }

  async function failure(changes: object = {}) {
    const startedAt = performance.now()
    const error = await logIn(changes).then(
      () => Promise.reject(new Error('it was believed')),
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof Status)) throw error
    const why =
      error.cause instanceof Error && error.cause.cause instanceof Error ? error.cause.cause.message : ''
    // Neither the client secret nor a token may be logged.
    expect(why).to.not.match(/eyJ|upstream secret/)
    return {
      code: error.code,
      message: error.message,
      reason: rejectionReason(error),
      why,
      ms: performance.now() - startedAt,
    }
  }

  it('is accepted without a fault', async () => {
    expect(await logIn()).to.deep.equal({
      uid: 'u1',
      username: 'ann',
      email: '',
      amr: '',
      displayName: '',
      groups: undefined,
    })
    lie({ userinfo: { sub: 'u1', email: 'ann@example.com', name: 'Ann' } })
    expect(await logIn({ getUserInfo: true })).to.include({ email: 'ann@example.com', displayName: 'Ann' })
  })

  it('may write the unrequested login time as a string (AD FS)', async () => {
    for (const authTime of ['1795700000', '2026-11-26T15:00:00.000Z', { at: 1 }]) {
      lie({ claims: good => ({ ...good, auth_time: authTime }) })
      expect(await logIn()).to.include({ uid: 'u1' })
    }
  })

  const untrusted: readonly [string, () => ProviderFaults, RegExp, object?][] = [
    [
      'another nonce',
      () => ({ claims: good => ({ ...good, nonce: 'other' }) }),
      /claim nonce .*expected "[\w-]{43}", got "other"/,
    ],
    ['a missing nonce', () => ({ claims: ({ nonce: _, ...good }) => good }), /claim nonce .*got none/],
    [
      'another audience',
      () => ({ claims: good => ({ ...good, aud: 'someone' }) }),
      /claim aud .*expected "kapis", got "someone"/,
    ],
    [
      'two audiences and another azp',
      () => ({ claims: good => ({ ...good, aud: ['kapis', 'x'], azp: 'x' }) }),
      /claim azp .*expected "kapis", got "x"/,
    ],
    [
      'another issuer',
      () => ({ claims: good => ({ ...good, iss: 'https://evil.test' }) }),
      /claim iss .*expected "https:\/\/localhost:\d+", got "https:\/\/evil.test"/,
    ],
    [
      'an expired ID token',
      () => ({ claims: good => ({ ...good, exp: Math.floor(Date.now() / 1000) - 60 }) }),
      /claim exp .*the time is \d+, got \d+/,
    ],
    ['a missing subject', () => ({ claims: ({ sub: _, ...good }) => good }), /claim sub .*got none/],
    [
      'a subject that is not a string',
      () => ({ claims: good => ({ ...good, sub: 1 }) }),
      /claim sub .*got 1/,
    ],
    [
      'a time that is a string',
      () => ({ claims: good => ({ ...good, exp: '9999999999' }) }),
      /claim exp .*"9{10}"/,
    ],
    ['a signature of another key', () => ({ sign: upstream.forged.byAnotherKey }), /signature/],
    ['an unpublished key', () => ({ sign: upstream.forged.byAnUnknownKey }), /key.*kid "k2"/],
    ['a missing signature (alg none)', () => ({ sign: upstream.forged.unsigned }), /alg "none"/],
    ['an HMAC with its public key', () => ({ sign: upstream.forged.byItsPublicKey }), /alg "HS256"/],
    [
      'no ID token',
      () => ({ responses: { '/token': res => json(res, 200, { access_token: 'a', token_type: 'Bearer' }) } }),
      /id_token/,
    ],
    [
      'metadata of another issuer',
      () => ({ metadata: { issuer: 'https://evil.test' } }),
      /issuer: expected "https:\/\/localhost:\d+\/?", got "https:\/\/evil.test"/,
    ],
    [
      'userinfo of another user',
      () => ({ userinfo: { sub: 'u2' } }),
      /sub: expected "u1", got "u2"/,
      { getUserInfo: true },
    ],
  ]
  for (const [what, lies, why, changes] of untrusted) {
    it(`is rejected with ${what}`, async () => {
      lie(lies())
      const { ms: _, ...refused } = await failure(changes)
      expect(refused).to.deep.include({
        code: 400,
        reason: 'provider_answer_invalid',
        message: 'the response of the identity provider is not valid',
      })
      expect(refused.why).to.match(why)
    })
  }

  const html: UpstreamResponse = res =>
    res.writeHead(200, { 'content-type': 'text/html' }).end('<p>maintenance</p>')
  const internal: UpstreamResponse = res => json(res, 500, { error: 'server_error' })
  const nothing: UpstreamResponse = () => undefined
  const drip: UpstreamResponse = res => {
    res.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => res.write(' '), 50)
    res.on('close', () => clearInterval(timer))
  }
  const flood: UpstreamResponse = res => {
    res.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(65_536, 0x20)
    const pour = () => {
      while (res.write(chunk));
    }
    res.on('drain', pour)
    pour()
  }
  const elsewhere: UpstreamResponse = res => res.writeHead(302, { location: 'https://evil.test/' }).end()
  const broken: readonly [string, UpstreamResponse][] = [
    ['500', internal],
    ['a page', html],
    ['nothing', nothing],
    ['one byte at a time', drip],
    ['an endless response', flood],
    ['a redirect', elsewhere],
    [
      'a truncated response',
      res => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
        res.write('{')
        setTimeout(() => res.destroy(), 20)
      },
    ],
  ]
  const steps = {
    discovery: '/.well-known/openid-configuration',
    keys: '/keys',
    token: '/token',
    userinfo: '/me',
  }
  for (const [step, path] of Object.entries(steps)) {
    for (const [what, behave] of broken) {
      it(`is treated as down when it answers ${step} with ${what}, within the time limit of a login`, async () => {
        lie({ responses: { [path]: behave } })
        const { ms, code, reason } = await failure({ getUserInfo: true, readTimeout: 700 })
        expect({ code, reason }).to.deep.equal({ code: 503, reason: 'provider_failed' })
        expect(ms).to.be.below(5_000)
      })
    }
  }

  it('receives one request from all logins that start while it is down, and another when it is up again', async () => {
    const clock = { nowMs: 0 }
    const client = provider({}, () => clock.nowMs)
    const transaction: Transaction = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43), redirectUri }
    let requests = 0
    const failing: UpstreamResponse = (...exchange) => {
      requests++
      internal(...exchange)
    }
    lie({ responses: { [steps.discovery]: failing } })
    for (const nowMs of [0, 999]) {
      clock.nowMs = nowMs
      const begun = Array.from({ length: 20 }, () => client.begin(transaction, never).catch(err => err))
      for (const error of await Promise.all(begun)) expect(error).to.include({ code: 503 })
    }
    expect(requests).to.equal(1)
    clock.nowMs = 1_000
    lie({})
    expect((await client.begin(transaction, never)).pathname).to.equal('/auth')
  })

  it('receives no request if its certificate is issued by another CA', async () => {
    const rootCAData = createCa({ commonName: 'other', validityDays: 1 }).certPem
    const { code, reason, why } = await failure({ rootCAData })
    expect({ code, reason }).to.deep.equal({ code: 503, reason: 'provider_failed' })
    expect(why).to.match(/unable to verify|self.signed/)
    expect(await logIn({ rootCAData, insecureSkipVerify: true })).to.include({ uid: 'u1' })
  })

  it('is reported as a configuration error, not a user error, if it rejects the client', async () => {
    lie({ responses: { '/token': res => json(res, 401, { error: 'invalid_client' }) } })
    expect(await failure()).to.include({ code: 503, reason: 'provider_failed' })
  })

  it('requires the user to start again if it rejects the code', async () => {
    lie({ responses: { '/token': res => json(res, 400, { error: 'invalid_grant' }) } })
    expect(await failure()).to.include({
      code: 400,
      reason: 'provider_refused',
      message: 'the response of the identity provider was used before, or came too late',
    })
  })
})

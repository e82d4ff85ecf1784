import { expect } from 'chai'
import { hiddenFieldsOf } from '../../pkg/oauth/browser/fixtures.ts'
import { sendToKapis, uniqueName } from './cluster.ts'
import { pkce, redirectUri } from './oauth-browser.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'
import { sendRaw } from './raw-https.ts'
import { setting } from './run.ts'

/** Invalid requests result in a redirect to the client, before the user is asked to log in. */
describe('parameters of /oauth/authorize', function () {
  this.timeout(60_000)
  const client = { name: uniqueName('asker'), secret: 's', redirectURIs: [redirectUri] }
  const robot = {
    name: uniqueName('robot'),
    secret: 's',
    user: 'nonexistent',
    grantTypes: ['client_credentials'],
    redirectURIs: [redirectUri],
  }

  before(async () => {
    for (const each of [client, robot]) await createClient(each)
  })
  after(async () => {
    for (const { name } of [client, robot]) await removeClient(name)
  })

  const good = { client_id: client.name, redirect_uri: redirectUri, response_type: 'code', state: 's' }
  const invalid = (error_description: string) => ({ error: 'invalid_request', error_description })
  const rows: readonly [string, Readonly<Record<string, string>>, object][] = [
    ['request', { request: 'x.y.z' }, { error: 'request_not_supported' }],
    ['request_uri', { request_uri: 'https://app.test/r' }, { error: 'request_uri_not_supported' }],
    ['response_mode', { response_mode: 'fragment' }, invalid('the parameter response_mode must be query')],
    ['nonce', { nonce: 'n'.repeat(513) }, invalid('the parameter nonce is longer than 512 characters')],
    ['max_age', { max_age: '-1' }, invalid('the parameter max_age must be a number of seconds')],
    [
      'prompt',
      { prompt: 'nonsense' },
      invalid('the parameter prompt must be among none, login, consent, select_account'),
    ],
    ['prompt', { prompt: 'none login' }, invalid('prompt=none cannot be combined with another prompt')],
    [
      'code_challenge_method',
      { code_challenge_method: 'S256' },
      invalid('code_challenge_method requires code_challenge'),
    ],
    [
      'code_challenge_method',
      { code_challenge: pkce.code_challenge },
      invalid('the parameter code_challenge_method must be S256'),
    ],
    [
      'code_challenge',
      { ...pkce, code_challenge: 'short' },
      invalid('the parameter code_challenge must be a SHA-256 in base64url'),
    ],
    [
      'scope',
      { scope: 'openid  email' },
      { error: 'invalid_scope', error_description: 'the parameter scope is malformed' },
    ],
    [
      'client_id',
      { client_id: robot.name },
      {
        error: 'unauthorized_client',
        error_description: 'the client may not use the authorization code grant',
      },
    ],
  ]
  it('may have 8 KB in total, and are preserved during the login', async () => {
    const request = `/oauth/authorize?${new URLSearchParams({ ...good, state: '' })}`
    const left = 8192 - request.length
    for (const state of ['x'.repeat(left), '+'.repeat(4_000)]) {
      const path = `${request}${state}`
      const response = await sendToKapis(path)
      expect(response.code).to.equal(302)
      const login = new URL(String(response.headers.location), setting('KAPIS_URL'))
      expect([login.pathname, login.searchParams.get('return_to')]).to.deep.equal(['/oauth/login', path])
      const page = await sendToKapis(login.pathname + login.search)
      const { return_to: kept = '' } = hiddenFieldsOf(page.body)
      expect([page.code, kept]).to.deep.equal([200, path])
    }
    // After double encoding, the redirect is three times as long. A browser accepts it, but the
    // HTTP client of Node.js does not.
    const longest = `${request}${'+'.repeat(left)}`
    const { codes, text } = await sendRaw(
      `GET ${longest} HTTP/1.1\r\nHost: kapis\r\nConnection: close\r\n\r\n`,
    )
    expect(codes).to.deep.equal([302])
    expect(text).to.match(/^location: \/oauth\/login\?return_to=[^\r]{20000,}\r$/im)
  })

  it('that are too long are rejected, with the state unless it is too long itself', async () => {
    const query = (fields: object) => String(new URLSearchParams({ ...good, ...fields }))
    const reported = {
      ...invalid('the authorization request is longer than 8192 characters'),
      iss: await issuerUrl(),
    }
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const post = (body: string) => sendToKapis('/oauth/authorize', { method: 'POST', headers: type, body })
    const long = 'x'.repeat(8_193)
    for (const [response, code, state] of [
      [await sendToKapis(`/oauth/authorize?${query({ state: long })}`), 302, {}],
      [await sendToKapis(`/oauth/authorize?${query({ other: long })}`), 302, { state: 's' }],
      [await post(query({ state: 'x'.repeat(200_000) })), 303, {}],
      [await post(query({ other: long })), 303, { state: 's' }],
    ] as const) {
      const location = new URL(String(response.headers.location))
      expect([response.code, location.origin + location.pathname]).to.deep.equal([code, redirectUri])
      expect(Object.fromEntries(location.searchParams)).to.deep.equal({ ...reported, ...state })
      expect(response.headers).to.include({ 'cache-control': 'no-store' })
    }
  })

  for (const [name, changes, reported] of rows) {
    it(`like ${name} are rejected with ${JSON.stringify(changes).slice(0, 60)}`, async () => {
      const response = await sendToKapis(`/oauth/authorize?${new URLSearchParams({ ...good, ...changes })}`)
      const location = new URL(String(response.headers.location))
      expect([response.code, response.body, location.origin + location.pathname]).to.deep.equal([
        302,
        '',
        redirectUri,
      ])
      expect(Object.fromEntries(location.searchParams)).to.deep.equal({
        ...reported,
        state: 's',
        iss: await issuerUrl(),
      })
      expect(response.headers['cache-control']).to.equal('no-store')
    })
  }
})

import { expect } from 'chai'
import { askKapis, uniqueName } from './cluster.ts'
import { pkce, redirectUri } from './oauth-browser.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'

/** What is wrong with a request goes back to the client, by the browser, before anybody is asked to log in. */
describe('a parameter of /oauth/authorize', function () {
  this.timeout(60_000)
  const client = { name: uniqueName('asker'), secret: 's', redirectURIs: [redirectUri] }
  const robot = {
    name: uniqueName('robot'),
    secret: 's',
    user: 'nobody',
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
    ['prompt', { prompt: 'none login' }, invalid('prompt=none goes with no other prompt')],
    [
      'code_challenge_method',
      { code_challenge_method: 'S256' },
      invalid('code_challenge_method is given without code_challenge'),
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
  for (const [name, changes, told] of rows) {
    it(`${name} is refused where it is ${JSON.stringify(changes).slice(0, 60)}`, async () => {
      const answer = await askKapis(`/oauth/authorize?${new URLSearchParams({ ...good, ...changes })}`)
      const location = new URL(String(answer.headers.location))
      expect([answer.code, answer.body, location.origin + location.pathname]).to.deep.equal([
        302,
        '',
        redirectUri,
      ])
      expect(Object.fromEntries(location.searchParams)).to.deep.equal({
        ...told,
        state: 's',
        iss: await issuerUrl(),
      })
      expect(answer.headers['cache-control']).to.equal('no-store')
    })
  }
})

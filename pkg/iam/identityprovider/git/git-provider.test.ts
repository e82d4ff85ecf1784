import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { authorityPem, startTlsServer } from '../../../../test/peers/tls-server.ts'
import { Status } from '../../../apierrors/status.ts'
import { readProviderConfig } from '../config.ts'
import { rejectionReason } from '../linking/login-error.ts'
import { createGitHubProvider } from './github.ts'
import { createGitLabProvider } from './gitlab.ts'

type Respond = (res: ServerResponse, url: URL) => void

const json =
  (body: string, headers: Readonly<Record<string, string>> = {}, code = 200): Respond =>
  res =>
    res.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body)

describe('a login at GitHub or GitLab', () => {
  let server: Awaited<ReturnType<typeof startTlsServer>>
  let responses: Readonly<Record<string, Respond>>
  before(async () => {
    server = await startTlsServer(base => (req, res) => {
      const url = new URL(req.url ?? '/', base)
      const respond = responses[url.pathname] ?? json('[]')
      respond(res, url)
    })
  })
  after(() => server.close())

  const token = json('{"access_token":"the-token","token_type":"Bearer"}')
  const user = (id: string) =>
    json(`{"id":${id},"login":"ann","username":"ann","state":"active","name":"Ann"}`)
  const group = '[{"full_path":"acme"}]'

  async function logIn(type: 'GitHubIdentityProvider' | 'GitlabIdentityProvider') {
    const memberOf = type === 'GitHubIdentityProvider' ? 'organizations' : 'groups'
    const config = readProviderConfig(
      {
        name: 'git',
        type,
        provider: {
          clientID: 'app',
          clientSecret: 'the-secret',
          rootCAData: authorityPem,
          [memberOf]: ['acme'],
          endpoint: {
            authURL: `${server.url}/authorize`,
            tokenURL: `${server.url}/token`,
            userInfoURL: `${server.url}/user`,
          },
        },
      },
      [],
    )
    if (config?.type !== 'GitHubIdentityProvider' && config?.type !== 'GitlabIdentityProvider')
      return expect.fail('the configuration is invalid')
    const create = type === 'GitHubIdentityProvider' ? createGitHubProvider : createGitLabProvider
    const transaction = {
      state: 's',
      nonce: 'n',
      codeVerifier: 'v'.repeat(43),
      redirectUri: 'https://k.test/cb',
    }
    const callback = new URL('https://k.test/cb?code=the-code&state=s')
    return create(config.provider).finish(callback, transaction, new AbortController().signal)
  }

  async function failure(type: Parameters<typeof logIn>[0]) {
    const error = await logIn(type).then(
      () => expect.fail('the login succeeded'),
      thrown => thrown,
    )
    if (!(error instanceof Status)) return expect.fail(String(error))
    const why =
      error.cause instanceof Error && error.cause.cause instanceof Error ? error.cause.cause.message : ''
    expect(why).to.not.match(/the-token|the-secret|the-code/)
    return { code: error.code, reason: rejectionReason(error), why }
  }

  it('returns the account and its groups', async () => {
    responses = { '/token': token, '/user': user('7'), '/groups': json(group) }
    expect(await logIn('GitlabIdentityProvider')).to.deep.include({
      uid: '7',
      username: 'ann',
      groups: ['acme'],
    })
  })

  // 9007199254740993 and 9007199254740992 are one number in JavaScript.
  for (const id of ['9007199254740993', '1e400', '-1', '0', '1.5', '"7"', 'null'])
    it(`rejects the account number ${id}`, async () => {
      responses = { '/token': token, '/user': user(id) }
      for (const type of ['GitHubIdentityProvider', 'GitlabIdentityProvider'] as const)
        expect(await failure(type)).to.deep.equal({
          code: 503,
          reason: 'provider_failed',
          why: 'Error: the user endpoint returned a response that is not a user',
        })
    })

  it('rejects a next page on another server, instead of dropping its groups', async () => {
    const link = { link: '<http://127.0.0.1:1/groups?page=2>; rel="next"' }
    responses = { '/token': token, '/user': user('7'), '/groups': json(group, link) }
    const { code, why } = await failure('GitlabIdentityProvider')
    expect([code, why]).to.deep.equal([
      503,
      `Error: the next page of /groups is on http://127.0.0.1:1; expected ${server.url}`,
    ])
  })

  it('rejects an endless list, instead of dropping groups', async () => {
    let count = 0
    const endless: Respond = (res, url) => {
      count++
      json(group, { link: `<${url}>; rel="next"` })(res, url)
    }
    responses = { '/token': token, '/user': user('7'), '/groups': endless }
    expect(await failure('GitlabIdentityProvider')).to.deep.equal({
      code: 400,
      reason: 'provider_groups_incomplete',
      why: 'Error: /groups has more than 20 pages',
    })
    expect(count).to.equal(20)
  })

  for (const [what, respond, code, why] of [
    ['HTML', json('<h1>502</h1>', { 'content-type': 'text/html' }, 502), 503, /status 502/],
    ['HTML with status 200', json('<h1>the-token</h1>', { 'content-type': 'text/html' }), 503, /./],
    [
      'an error of the client',
      json('{"error":"invalid_client","error_description":"unknown\\nclient"}', {}, 401),
      503,
      /status 401; invalid_client; unknown\\nclient/,
    ],
    ['a redirect', json('', { location: 'https://evil.test/' }, 302), 503, /status 302/],
    ['no JSON', json('{'), 503, /./],
    ['a list', json('[]'), 400, /must be a top level object/],
    ['a token that is a number', json('{"access_token":1,"token_type":"Bearer"}'), 400, /access_token/],
    ['an unknown token type', json('{"access_token":"a","token_type":"mac"}'), 400, /token_type/],
  ] as const)
    it(`rejects a token endpoint that returns ${what}, and logs the reason`, async () => {
      responses = { '/token': respond, '/user': user('7') }
      const failed = await failure('GitlabIdentityProvider')
      expect(failed.code, failed.why).to.equal(code)
      expect(failed.why).to.match(why)
    })
})

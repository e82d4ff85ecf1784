import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  type GitHubAccount,
  type GitLabAccount,
  gitClient,
  startGitHub,
  startGitLab,
} from '../peers/git-providers.ts'
import { logInUpstream, startOpenIdProvider, upstreamClient } from '../peers/openid-provider.ts'
import { authorityPem } from '../peers/tls-server.ts'
import { createUserAgent, type Page, type UserAgent } from '../peers/user-agent.ts'
import { kubectlJson, kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { endsWithinSeconds, eventually } from './http.ts'
import {
  applyProvider,
  linkOf,
  openIdDocument,
  personAt,
  removeProvider,
  users,
} from './identity-provider.ts'
import { bearer, claimsOf, createUser, form, loginAs, patchUser, refresh, removeUser } from './oauth.ts'
import { createClient, removeClient } from './oauth-clients.ts'
import { setting } from './run.ts'

/** Origin at which browsers reach Kapis: that of the issuer, to which providers redirect. */
const base = discoverOrigin()
const clientId = setting('KAPIS_CLIENT_ID')

async function discoverOrigin(): Promise<string> {
  const { body } = await sendToKapis('/oauth/.well-known/openid-configuration')
  return new URL(JSON.parse(body).issuer).origin
}

function newAgent(accept?: string): UserAgent {
  return createUserAgent([authorityPem, readFileSync(setting('KAPIS_CA'), 'utf8')], accept)
}

async function open(agent: UserAgent, provider: string, until?: (url: URL) => boolean): Promise<Page> {
  return agent.open(`${await base}/oauth/login/${provider}?client_id=${clientId}`, until)
}

async function configure(document: { readonly name: string } & object): Promise<void> {
  await applyProvider(document)
  await eventually(async () => {
    expect((await sendToKapis(`/oauth/login/${document.name}`)).code).to.not.equal(404)
  }, 10_000)
}

const rejection = ({ code, body }: Pick<Page, 'code' | 'body'>) => [code, JSON.parse(body)]

function tokensOf(page: Page) {
  expect(page.code, page.body).to.equal(200)
  expect(page.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
  expect(page.headers['content-type']).to.contain('application/json')
  return JSON.parse(page.body)
}

describe('logins at an OpenID provider through kapis-apiserver', function () {
  this.timeout(120_000)
  const provider = uniqueName('oidc')
  const ann = uniqueName('ann')
  const local = uniqueName('local')
  let upstream: Awaited<ReturnType<typeof startOpenIdProvider>>
  const document = (changes: object = {}, oidc: object = {}) =>
    openIdDocument(provider, upstream, { groupsPrefix: 'oidc:', ...changes }, oidc)

  before(async () => {
    upstream = await startOpenIdProvider(
      [`${await base}/oauth/callback/${provider}`],
      [
        personAt(ann),
        personAt(local, { email: `${local}-other@example.com` }),
        personAt(`${local}-mail`, { email: `${local}@E2E.test` }),
        personAt(`${local}-unverified`, { email_verified: false }),
      ],
    )
    await createUser({ username: local, password: 'Correct horse 1' })
    await configure(document())
  })
  after(async () => {
    await removeProvider(provider)
    for (const name of [ann, local]) await removeUser(name)
    upstream.close()
  })

  beforeEach(() => upstream.change(personAt(ann)))

  const isCallback = (url: URL) => url.pathname === `/oauth/callback/${provider}`
  /** Follows redirects up to the callback. */
  async function untilCallback(agent: UserAgent, sub: string): Promise<URL> {
    const login = await open(agent, provider)
    expect(login.body).to.contain('name="login"')
    const last = await logInUpstream(agent, login, sub, isCallback)
    return new URL(String(last.headers.location), last.url)
  }
  const logIn = async (agent: UserAgent, sub: string) => agent.open(await untilCallback(agent, sub))

  it('redirect the browser with a new state, PKCE and a nonce', async () => {
    const response = await sendToKapis(`/oauth/login/${provider}?client_id=${clientId}&scope=openid`)
    expect(response.code).to.equal(303)
    expect(response.headers['cache-control']).to.equal('no-store')
    const location = new URL(String(response.headers.location))
    expect(location.origin).to.equal(upstream.url)
    const { state, nonce, code_challenge, ...rest } = Object.fromEntries(location.searchParams)
    for (const random of [state, nonce, code_challenge]) expect(random).to.match(/^[\w-]{43}$/)
    expect(rest).to.deep.include({
      client_id: upstreamClient.clientID,
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid profile email groups',
    })
    const [cookie = '', ...others] = response.headers['set-cookie'] ?? []
    expect(others).to.deep.equal([])
    expect(cookie).to.match(
      /^__Host-kapis-provider-login-[0-9a-f]{16}=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
  })

  for (const [prompt, demand] of [
    [null, {}],
    ['login', { prompt: 'login' }],
    ['login', { max_age: '0' }],
    ['login', { max_age: '3600', prompt: 'select_account' }],
    ['select_account', { prompt: 'consent select_account' }],
    [null, { prompt: 'consent' }],
  ] as const) {
    it(`reauthenticate at the provider as the client requires: ${new URLSearchParams(demand)}`, async () => {
      const request = new URLSearchParams({ client_id: clientId, response_type: 'code', ...demand })
      const query = new URLSearchParams({ return_to: `/oauth/authorize?${request}` })
      const response = await sendToKapis(`/oauth/login/${provider}?${query}`)
      expect(new URL(String(response.headers.location)).searchParams.get('prompt')).to.equal(prompt)
    })
  }

  it('return tokens: a user is created, linked, and has the groups', async () => {
    const agent = newAgent()
    const { access_token, refresh_token, ...rest } = tokensOf(await logIn(agent, ann))
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200 })
    expect(claimsOf(access_token)).to.deep.include({ sub: ann, client_id: clientId, groups: ['oidc:blue'] })
    const user = (await kubectlJson('get', users, ann)) as { metadata: { annotations: object }; spec: object }
    expect(user.metadata.annotations).to.have.property(linkOf(provider), ann)
    expect(user.spec).to.deep.equal({ email: `${ann}@example.com`, displayName: 'A Person' })
    expect((await bearer(access_token, '/api')).code).to.equal(200)
    expect((await refresh(refresh_token)).code).to.equal(200)
    const left = [...agent.cookies(new URL(await base).host).keys()]
    expect(left.filter(name => name.includes('provider-login'))).to.deep.equal([])
  })

  it('assign no group that header parsers would change into another one', async () => {
    await configure(document({ groupsPrefix: '' }))
    const groups = [' system:masters', '\tsystem:masters', 'system:masters', `${ann}-ops `, `${ann}-dev`]
    upstream.change(personAt(ann, { groups }))
    await eventually(async () => {
      const { access_token } = tokensOf(await logIn(newAgent(), ann))
      expect(claimsOf(access_token)).to.deep.include({ sub: ann, groups: [`${ann}-dev`] })
      expect((await bearer(access_token, '/api/v1/secrets')).code).to.equal(403)
    }, 20_000)
    const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'oauth.log'), 'utf8')
    const lines = log
      .split('\n')
      .filter(line => line.includes('groups from the identity provider are ignored'))
    expect(
      lines.some(line => JSON.parse(line).user === ann && JSON.parse(line).groups.length === 4),
    ).to.equal(true)
    await configure(document())
  })

  it('find the user again by the subject, even if everything else has changed, and remove groups', async () => {
    tokensOf(await logIn(newAgent(), ann))
    upstream.change(
      personAt(ann, { preferred_username: 'other', email: 'other@example.com', groups: ['green'] }),
    )
    const { access_token } = tokensOf(await logIn(newAgent(), ann))
    expect(claimsOf(access_token)).to.deep.include({ sub: ann, groups: ['oidc:green'] })
  })

  it('never take over a user of the same name or address', async () => {
    expect(rejection(await logIn(newAgent(), local))).to.deep.equal([
      400,
      {
        error: 'invalid_grant',
        error_description: `the user name ${local} is taken; an administrator can link a user to it`,
      },
    ])
    expect(rejection(await logIn(newAgent(), `${local}-mail`))).to.deep.equal([
      400,
      {
        error: 'invalid_grant',
        error_description:
          'the e-mail address belongs to another user; an administrator can link a user to it',
      },
    ])
    expect(rejection(await logIn(newAgent(), `${local}-unverified`))).to.deep.equal([
      400,
      {
        error: 'invalid_grant',
        error_description: 'the identity provider returned no verified e-mail address',
      },
    ])
  })

  it('reject a disabled user', async () => {
    tokensOf(await logIn(newAgent(), ann))
    await patchUser(ann, { status: { state: 'Disabled' } }, '--subresource=status')
    await eventually(async () => {
      expect(rejection(await logIn(newAgent(), ann))).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: 'account is not active' },
      ])
    }, 10_000)
    await patchUser(ann, { status: { state: 'Active' } }, '--subresource=status')
  })

  const foreign = {
    error: 'invalid_request',
    error_description: 'the login was not started in this browser, or more than ten minutes ago; start again',
  }
  const stolen: readonly [string, () => Promise<Page>][] = [
    ['in another browser', async () => newAgent().open(await untilCallback(newAgent(), ann))],
    [
      'that was used before',
      async () => {
        const agent = newAgent()
        const callback = await untilCallback(agent, ann)
        await agent.open(callback)
        return agent.open(callback)
      },
    ],
    [
      'with the state of another login in the same browser',
      async () => {
        const agent = newAgent()
        const callback = await untilCallback(agent, ann)
        callback.searchParams.set('state', 'x'.repeat(43))
        return agent.open(callback)
      },
    ],
    [
      'without a state',
      async () => {
        const agent = newAgent()
        const callback = await untilCallback(agent, ann)
        callback.searchParams.delete('state')
        return agent.open(callback)
      },
    ],
  ]
  for (const [what, steal] of stolen) {
    it(`reject a callback ${what}`, async () => {
      expect(rejection(await steal())).to.deep.equal([400, foreign])
    })
  }

  it('reject a code of another login: its PKCE verifier and nonce do not match', async () => {
    const agent = newAgent()
    const code = (await untilCallback(newAgent(), ann)).searchParams.get('code') ?? ''
    const callback = await untilCallback(agent, ann)
    callback.searchParams.set('code', code)
    expect(rejection(await agent.open(callback))).to.deep.equal([
      400,
      {
        error: 'invalid_grant',
        error_description: 'the response of the identity provider was used before, or came too late',
      },
    ])
  })

  it('report an error of the provider', async () => {
    const agent = newAgent()
    const callback = await untilCallback(agent, ann)
    callback.searchParams.delete('code')
    callback.searchParams.set('error', 'access_denied')
    callback.searchParams.set('error_description', '<script>')
    expect(rejection(await agent.open(callback))).to.deep.equal([
      400,
      {
        error: 'invalid_grant',
        error_description: 'the identity provider rejected the login (access_denied)',
      },
    ])
  })

  const starts: readonly [string, Record<string, string>, string][] = [
    ['a missing client', {}, 'the parameter client_id or return_to is required'],
    ['an unknown client', { client_id: 'nonexistent' }, 'the parameter client_id or return_to is required'],
    ['a malformed scope', { client_id: clientId, scope: 'a"b' }, 'the parameter scope is malformed'],
  ]
  for (const [what, parameters, error_description] of starts) {
    it(`do not start with ${what}`, async () => {
      const response = await sendToKapis(`/oauth/login/${provider}?${new URLSearchParams(parameters)}`)
      expect(response.code).to.equal(400)
      expect(JSON.parse(response.body)).to.deep.include({ error_description })
    })
  }

  describe('on the login page', () => {
    const app = { name: uniqueName('app'), secret: 'app secret', redirectURIs: ['https://app.test/cb'] }
    const authorize = async () =>
      `${await base}/oauth/authorize?${new URLSearchParams({
        client_id: app.name,
        redirect_uri: 'https://app.test/cb',
        response_type: 'code',
        scope: 'openid',
        state: 'app state',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      })}`
    const verifier = 'v'.repeat(43)
    const isApp = (url: URL) => url.host === 'app.test'
    const browser = () => newAgent('text/html')

    before(() => createClient(app))
    after(() => removeClient(app.name))

    /** Presses the button of the identity provider. */
    async function press(agent: UserAgent, page: Page): Promise<Page> {
      const links = [...page.body.matchAll(/<a class="button second" href="([^"]+)">/g)]
      const [, link = ''] = links.find(([, href]) => href?.startsWith(`/oauth/login/${provider}?`)) ?? []
      return agent.open(new URL(link.replaceAll('&amp;', '&'), page.url), isApp)
    }

    it('lead through the provider to the client, with a code that returns tokens', async () => {
      const agent = browser()
      const page = await agent.open(await authorize(), isApp)
      expect(page.url.pathname).to.equal('/oauth/login')
      const upstreamPage = await press(agent, page)
      const last = await logInUpstream(agent, upstreamPage, ann, isApp)
      const back = new URL(String(last.headers.location))
      expect(back.origin + back.pathname).to.equal('https://app.test/cb')
      expect(back.searchParams.get('state')).to.equal('app state')
      const response = await form('/oauth/token', {
        grant_type: 'authorization_code',
        code: back.searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: 'https://app.test/cb',
        client_id: app.name,
        client_secret: app.secret,
      })
      expect(response.code, response.body).to.equal(200)
      const { access_token, id_token } = JSON.parse(response.body)
      expect(claimsOf(access_token)).to.deep.include({
        sub: ann,
        client_id: app.name,
        groups: ['oidc:blue'],
      })
      expect(claimsOf(id_token)).to.include({ sub: ann, aud: app.name })
      // The browser is still logged in, so the client gets another code without a page.
      const again = await agent.open(await authorize(), isApp)
      expect(new URL(String(again.headers.location)).searchParams.has('code')).to.equal(true)
    })

    it('show a page with the error and a link back', async () => {
      const agent = browser()
      const upstreamPage = await press(agent, await agent.open(await authorize(), isApp))
      const last = await logInUpstream(agent, upstreamPage, `${local}-unverified`, isApp)
      expect(last.code).to.equal(400)
      expect(last.headers['content-type']).to.contain('text/html')
      expect(last.headers['content-security-policy']).to.contain("default-src 'none'")
      expect(last.body).to.contain('The identity provider returned no verified e-mail address.')
      const [, link = ''] = /href="(\/oauth\/login\?[^"]+)"/.exec(last.body) ?? []
      const returnTo = new URL(link.replaceAll('&amp;', '&'), last.url).searchParams.get('return_to') ?? ''
      expect(new URL(returnTo, last.url).href).to.equal(await authorize())
    })

    for (const returnTo of [
      'https://evil.test/',
      '//evil.test/',
      '/\\evil.test',
      '/oauth/../evil',
      'javascript:alert(1)',
    ]) {
      it(`never redirect to ${returnTo}`, async () => {
        const agent = browser()
        const start = `${await base}/oauth/login/${provider}?${new URLSearchParams({ return_to: returnTo })}`
        const last = await logInUpstream(agent, await agent.open(start), ann, url =>
          url.host.endsWith('evil.test'),
        )
        expect(last.url.href).to.equal(`${await base}/oauth/session`)
      })
    }
  })

  it('are rejected with lookup for an unlinked account, and succeed once it is linked', async () => {
    await configure(document({ mappingMethod: 'lookup', displayName: 'Corp' }))
    await eventually(async () => {
      expect(rejection(await logIn(newAgent(), local))).to.deep.equal([
        400,
        {
          error: 'invalid_grant',
          error_description:
            'no user is linked to this account of Corp; an administrator can link a user to it',
        },
      ])
    }, 10_000)
    await kubectlOutput('annotate', users, local, `${linkOf(provider)}=${local}`)
    await eventually(async () => {
      expect(claimsOf(tokensOf(await logIn(newAgent(), local)).access_token).sub).to.equal(local)
    }, 10_000)
    await kubectlOutput('annotate', users, local, `${linkOf(provider)}-`)
    await configure(document())
  })

  it('end within two seconds when the provider is disabled or removed, and no others do', async () => {
    await createUser({ username: local, password: 'Correct horse 1' })
    const own = await loginAs({ username: local, password: 'Correct horse 1' })
    const ends: readonly [string, () => Promise<void>][] = [
      ['identity provider disabled', () => applyProvider(document({ disabled: true }))],
      ['identity provider removed', () => removeProvider(provider)],
    ]
    for (const [why, end] of ends) {
      await configure(document())
      const { access_token, refresh_token } = await eventuallyTokens()
      // An invalid Secret of a provider ends no login.
      await applyProvider(document({ mappingMethod: 'typo' }))
      await eventually(async () => {
        expect((await sendToKapis(`/oauth/login/${provider}`)).code).to.equal(404)
      }, 20_000)
      expect((await bearer(access_token, '/api')).code).to.equal(200)
      await end()
      const seconds = await eventually(async () => {
        expect((await bearer(access_token, '/api')).code).to.equal(401)
      }, 20_000)
      expect(seconds).to.be.below(endsWithinSeconds)
      expect(rejection(await refresh(refresh_token))).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: 'the login has ended' },
      ])
      const { spec } = Object(await kubectlJson('get', 'loginsession', String(claimsOf(access_token).sid)))
      expect(spec.ended).to.equal(why)
      expect((await bearer(own.access_token, '/api')).code).to.equal(200)
    }
    await configure(document())
  })

  async function eventuallyTokens() {
    let page: Page | undefined
    await eventually(async () => {
      page = await logIn(newAgent(), ann)
      expect(page.code, page.body).to.equal(200)
    }, 20_000)
    if (page === undefined) throw new Error('no page')
    return tokensOf(page)
  }

  it('fail while their provider is down, and no others do', async () => {
    await configure(document({}, { issuer: 'https://localhost:1' }))
    await eventually(async () => {
      const response = await sendToKapis(`/oauth/login/${provider}?client_id=${clientId}`)
      expect(rejection(response)).to.deep.equal([
        503,
        {
          error: 'temporarily_unavailable',
          error_description: 'the identity provider returned an invalid response',
        },
      ])
    }, 10_000)
    await configure(document())
    await eventually(async () => void tokensOf(await logIn(newAgent(), ann)), 10_000)
  })
})

describe('logins at GitHub and GitLab through kapis-apiserver', function () {
  this.timeout(120_000)
  const octocat = uniqueName('Octocat')
  const made = octocat.toLowerCase()
  let github: GitHubAccount
  let gitlab: GitLabAccount
  const servers: { close: () => void }[] = []
  const names = { github: uniqueName('github'), gitlab: uniqueName('gitlab') }

  const githubAccount = (): GitHubAccount => ({
    user: {
      login: octocat,
      id: 583231,
      node_id: 'MDQ6VXNlcjU4MzIzMQ==',
      type: 'User',
      site_admin: false,
      name: 'The Octocat',
      email: null,
    },
    emails: [
      { email: 'unverified@example.com', primary: false, verified: false, visibility: null },
      { email: 'second@example.com', primary: false, verified: true, visibility: null },
      { email: `${made}@example.com`, primary: true, verified: true, visibility: 'private' },
    ],
    orgs: [
      { login: 'Acme', id: 1 },
      { login: 'platform-admins', id: 2 },
    ],
    teams: [
      { slug: 'ops', name: 'Ops', organization: { login: 'Acme', id: 1 } },
      { slug: 'all', name: 'All', organization: { login: 'platform-admins', id: 2 } },
    ],
  })
  const gitlabAccount = (): GitLabAccount => ({
    user: {
      id: 42,
      username: `${made}.lab`,
      name: 'Lab',
      state: 'active',
      email: `${made}-lab@example.com`,
      confirmed_at: '2012-05-23T09:05:22Z',
    },
    groups: ['acme', 'acme/ops', 'platform-admins', 'acme-evil', 'acme/dev'].map((full_path, id) => ({
      id,
      full_path,
    })),
  })

  before(async () => {
    const hub = await startGitHub(() => github)
    const lab = await startGitLab(() => gitlab)
    servers.push(hub, lab)
    await configure({
      name: names.github,
      type: 'GitHubIdentityProvider',
      provider: {
        ...gitClient,
        rootCAData: authorityPem,
        organizations: ['acme'],
        endpoint: {
          authURL: `${hub.url}/login/oauth/authorize`,
          tokenURL: `${hub.url}/login/oauth/access_token`,
          userInfoURL: `${hub.url}/user`,
        },
      },
    } as { name: string })
    await configure({
      name: names.gitlab,
      type: 'GitlabIdentityProvider',
      groupsPrefix: 'gitlab:',
      provider: {
        ...gitClient,
        rootCAData: authorityPem,
        groups: ['acme'],
        endpoint: {
          authURL: `${lab.url}/oauth/authorize`,
          tokenURL: `${lab.url}/oauth/token`,
          userInfoURL: `${lab.url}/api/v4/user`,
        },
      },
    } as { name: string })
  })
  beforeEach(() => {
    github = githubAccount()
    gitlab = gitlabAccount()
  })
  after(async () => {
    for (const name of Object.values(names)) await removeProvider(name)
    for (const name of [made, `${made}.lab`]) await removeUser(name)
    for (const server of servers) server.close()
  })

  const logIn = (provider: string) => open(newAgent(), provider)

  it('at GitHub use the account ID, its primary verified address, and matching organizations and teams', async () => {
    const { access_token } = tokensOf(await logIn(names.github))
    expect(claimsOf(access_token)).to.deep.include({ sub: made, groups: ['Acme', 'Acme:ops'] })
    const user = (await kubectlJson('get', users, made)) as {
      metadata: { annotations: object }
      spec: object
    }
    expect(user.metadata.annotations).to.have.property(linkOf(names.github), '583231')
    expect(user.spec).to.deep.equal({ email: `${made}@example.com`, displayName: 'The Octocat' })
  })

  it('at GitLab use every page of groups, the matching ones and their subgroups', async () => {
    const { access_token } = tokensOf(await logIn(names.gitlab))
    expect(claimsOf(access_token)).to.deep.include({
      sub: `${made}.lab`,
      groups: ['gitlab:acme', 'gitlab:acme/dev', 'gitlab:acme/ops'],
    })
  })

  const refused: readonly [string, () => string, () => void, string][] = [
    [
      'GitHub: a member of no matching organization',
      () => names.github,
      () => (github = { ...github, orgs: [], teams: [] }),
      'the account is not a member of a group that may log in',
    ],
    [
      'GitHub: another account with the same name',
      () => names.github,
      () => (github = { ...github, user: { ...github.user, id: 7 } }),
      `the user name ${made} is taken; an administrator can link a user to it`,
    ],
    [
      'GitHub: an account without a verified address',
      () => names.github,
      () =>
        (github = {
          ...github,
          user: { ...github.user, id: 8, login: `${octocat}-8`, email: `${made}-8@example.com` },
          emails: [{ email: `${made}-8@example.com`, primary: true, verified: false, visibility: null }],
        }),
      'the identity provider returned no verified e-mail address',
    ],
    [
      'GitLab: an account without a confirmed address',
      () => names.gitlab,
      () =>
        (gitlab = { ...gitlab, user: { ...gitlab.user, id: 9, username: `${made}-9`, confirmed_at: null } }),
      'the identity provider returned no verified e-mail address',
    ],
    [
      'GitLab: a blocked account',
      () => names.gitlab,
      () => (gitlab = { ...gitlab, user: { ...gitlab.user, state: 'blocked' } }),
      'the account at the identity provider is not active',
    ],
  ]
  for (const [what, provider, change, error_description] of refused) {
    it(`are rejected at ${what}`, async () => {
      // Creates the user whose name and e-mail address other accounts claim.
      tokensOf(await logIn(provider()))
      change()
      expect(rejection(await logIn(provider()))).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description },
      ])
    })
  }

  it('reject a code that was used before', async () => {
    for (const provider of Object.values(names)) {
      const agent = newAgent()
      const isCallback = (url: URL) => url.pathname === `/oauth/callback/${provider}`
      const first = await open(agent, provider, isCallback)
      const used = new URL(String(first.headers.location))
      await agent.open(used)
      const second = await open(agent, provider, isCallback)
      const callback = new URL(String(second.headers.location))
      callback.searchParams.set('code', used.searchParams.get('code') ?? '')
      expect(rejection(await agent.open(callback))).to.deep.equal([
        400,
        {
          error: 'invalid_grant',
          error_description: 'the response of the identity provider was used before, or came too late',
        },
      ])
    }
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { groups, manager, people, person, type Slapd, startSlapd } from '../peers/slapd.ts'
import { createUserAgent } from '../peers/user-agent.ts'
import { type HttpResponse, kubectlJson, kubectlOutput, sendToKube, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { applyProvider, linkOf, removeProvider, users } from './identity-provider.ts'
import {
  bearer,
  claimsOf,
  createUser,
  credentials,
  form,
  iamVersion,
  loginAs,
  patchUser,
  refresh,
  removeUser,
  token,
} from './oauth.ts'
import { setting } from './run.ts'

const provider = uniqueName('ldap')
const alice = uniqueName('alice')
const bob = uniqueName('bob')
const carol = uniqueName('carol')
const local = uniqueName('local')
const group = uniqueName('ops')

describe('logins at an LDAP directory through kapis-apiserver', function () {
  this.timeout(120_000)
  let slapd: Slapd

  const document = (changes: object = {}, ldap: object = {}) => ({
    name: provider,
    type: 'LDAPIdentityProvider',
    ...changes,
    provider: {
      host: `localhost:${slapd.port}`,
      startTLS: true,
      rootCAData: slapd.caPem,
      managerDN: manager.dn,
      managerPassword: manager.password,
      userSearchBase: people,
      groupSearchBase: groups,
      ...ldap,
    },
  })
  const logIn = (username: string, password = `${username} secret`): Promise<HttpResponse> =>
    form(`/oauth/login/${provider}`, { ...credentials, username, password })
  async function loggedIn(username: string) {
    const response = await logIn(username)
    expect(response.code, response.body).to.equal(200)
    return JSON.parse(response.body)
  }
  const rejection = ({ code, body }: HttpResponse) => [code, JSON.parse(body)]
  const invalid = (error_description: string) => ({ error: 'invalid_grant', error_description })
  /** Configures the provider, and waits until kapis-oauth has loaded it. */
  async function configure(
    changes: object = {},
    ldap: object = {},
    isThere = (response: HttpResponse) => response.code !== 404,
  ) {
    await applyProvider(document(changes, ldap))
    await eventually(async () => void expect(isThere(await logIn('nonexistent', 'x'))).to.equal(true), 10_000)
  }

  before(async () => {
    slapd = await startSlapd([
      person(alice, { displayName: 'Alice' }),
      person(bob),
      person(carol),
      person(local, { mail: `${local}@elsewhere.test` }),
      person(`${local}-thief`, { mail: `${local}@e2e.test` }),
      person(`${local}_UPPER`, { mail: `${local}-upper@example.com` }),
      [
        `cn=${group},${groups}`,
        { objectClass: 'groupOfNames', cn: group, member: [`uid=${alice},${people}`] },
      ],
      [
        `cn=sys,${groups}`,
        { objectClass: 'groupOfNames', cn: 'system:masters', member: [`uid=${alice},${people}`] },
      ],
      // A name that equals the one above after a header field has lost its spaces.
      [
        `cn=\\20system:masters,${groups}`,
        { objectClass: 'groupOfNames', cn: ' system:masters', member: [`uid=${alice},${people}`] },
      ],
    ])
    await createUser({ username: local, password: 'Correct horse 1' })
    await configure()
  })
  after(async () => {
    await removeProvider(provider)
    for (const name of [alice, bob, local, `${local}-upper`]) await removeUser(name)
    await slapd.stop()
  })

  it('create a linked user, and return tokens with the groups of the directory', async () => {
    const { access_token, refresh_token, ...rest } = await loggedIn(alice)
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200 })
    expect(claimsOf(access_token)).to.deep.include({ sub: alice, groups: [group] })
    const user = (await kubectlJson('get', users, alice)) as { metadata: { annotations: object } }
    expect(user.metadata.annotations).to.have.property(linkOf(provider), alice)
    expect(user).to.have.deep.property('spec', { email: `${alice}@example.com`, displayName: 'Alice' })
    expect(user).to.have.nested.property('status.providerGroups[0].groups').that.deep.equals([group])
    expect(await bearer(access_token, '/api')).to.include({ code: 200 })
    expect((await refresh(refresh_token)).code).to.equal(200)
  })

  it('grant the permissions of the groups, in kapis-apiserver and kube-apiserver, and revoke them with the group', async () => {
    const binding = uniqueName('idp-view')
    await kubectlOutput('create', 'clusterrolebinding', binding, '--clusterrole=view', `--group=${group}`)
    try {
      const { access_token } = await loggedIn(alice)
      await eventually(async () => {
        expect((await bearer(access_token, '/api/v1/namespaces/default/pods')).code).to.equal(200)
      }, 5_000)
      expect((await sendToKube(access_token, '/api/v1/namespaces/default/pods')).code).to.equal(200)
      await slapd.asManager(client => client.del(`cn=${group},${groups}`))
      // Each login of a user updates the groups, also for tokens that were issued before.
      const later = await loggedIn(alice)
      expect(claimsOf(later.access_token).groups).to.deep.equal([])
      await eventually(async () => {
        expect((await bearer(access_token, '/api/v1/namespaces/default/pods')).code).to.equal(403)
      }, 15_000)
    } finally {
      await kubectlOutput('delete', 'clusterrolebinding', binding)
    }
  })

  it('are possible with the password grant and `provider`, too', async () => {
    const response = await token({
      grant_type: 'password',
      provider,
      username: bob,
      password: `${bob} secret`,
    })
    expect(response.code, response.body).to.equal(200)
    expect(response.headers).to.include({ 'cache-control': 'no-store' })
    const wrong = await token({ grant_type: 'password', provider, username: bob, password: 'wrong' })
    expect(rejection(wrong)).to.deep.equal([400, invalid('incorrect password')])
  })

  it('are recorded for their user, including wrong passwords', async () => {
    await loggedIn(bob)
    expect((await logIn(bob, 'wrong')).code).to.equal(400)
    const admin = { username: setting('KAPIS_USER'), password: setting('KAPIS_PASSWORD') }
    const { access_token } = await loginAs(admin)
    await eventually(async () => {
      const path = `/kapis/${iamVersion}/users/${bob}/loginrecords`
      const { items } = JSON.parse((await bearer(access_token, path)).body)
      const outcomes: ReadonlySet<unknown> = new Set(
        items.map(({ spec }: { spec: Record<string, unknown> }) =>
          [spec.type, spec.provider, spec.reason].join(' '),
        ),
      )
      expect([...outcomes].sort()).to.deep.equal([
        `OAuth ${provider} authenticated successfully`,
        `OAuth ${provider} incorrect password`,
      ])
    }, 20_000)
  })

  it('are audited with the entered name, unless the name is unknown', async () => {
    await loggedIn(bob)
    // The person is in the directory, but there is no User yet.
    const stranger = `${local}-thief`
    const nonexistent = uniqueName('nonexistent')
    const secret = uniqueName('typed')
    for (const name of [bob, stranger, nonexistent]) {
      expect((await logIn(name, secret)).code).to.equal(400)
      const grant = { grant_type: 'password', provider, username: name, password: secret }
      expect((await token(grant)).code).to.equal(400)
    }
    const failure = { provider, grant: 'password', outcome: 'failure' }
    const expected = [bob, stranger, undefined].flatMap(user =>
      ['login', 'token'].map(audit => ({
        ...failure,
        audit,
        ...(user === undefined ? { reason: 'unknown_user' } : { reason: 'wrong_password', user }),
      })),
    )
    await eventually(async () => {
      const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'oauth.log'), 'utf8')
      const lines = log.split('\n').filter(line => line.includes(provider) && line.includes('"audit":'))
      const records = lines.slice(-6).map(line => {
        const { audit, grant, outcome, reason, user, provider: idp } = JSON.parse(line)
        return { audit, grant, outcome, reason, provider: idp, ...(user === undefined ? {} : { user }) }
      })
      expect(records).to.have.deep.members(expected)
      for (const word of [secret, nonexistent]) expect(log).to.not.include(word)
    }, 20_000)
  })

  it('log a browser in, on the login page', async () => {
    const agent = createUserAgent([readFileSync(setting('KAPIS_CA'), 'utf8')], 'text/html')
    const page = await agent.open(`${setting('KAPIS_URL')}/oauth/login?provider=${provider}`)
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.body) ?? []
    const fields = { csrf, provider, return_to: '/oauth/session', username: bob }
    const wrong = await agent.submit(page, { ...fields, password: 'wrong' })
    expect([wrong.code, wrong.url.pathname]).to.deep.equal([400, '/oauth/login'])
    expect(wrong.body).to.contain('The user name or the password is wrong.')
    const right = await agent.submit(page, { ...fields, password: `${bob} secret` })
    expect([right.code, right.url.pathname], right.body).to.deep.equal([200, '/oauth/session'])
    expect(right.body).to.contain(bob)
  })

  it('find the same user again, even under another name', async () => {
    await loggedIn(bob)
    await kubectlOutput('annotate', users, bob, `${linkOf(provider)}-`)
    await kubectlOutput('annotate', users, local, `${linkOf(provider)}=${bob}`)
    try {
      await eventually(async () => {
        expect(claimsOf((await loggedIn(bob)).access_token).sub).to.equal(local)
      }, 5_000)
    } finally {
      await kubectlOutput('annotate', users, local, `${linkOf(provider)}-`)
      await kubectlOutput('annotate', users, bob, `${linkOf(provider)}=${bob}`)
    }
  })

  it('never take over a user of the same name or address', async () => {
    const named = `the user name ${local} is taken; an administrator can link a user to it`
    await eventually(async () => {
      expect(rejection(await logIn(local))).to.deep.equal([400, invalid(named)])
    }, 5_000)
    const addressed = 'the e-mail address belongs to another user; an administrator can link a user to it'
    expect(rejection(await logIn(`${local}-thief`))).to.deep.equal([400, invalid(addressed)])
  })

  it('derive a valid Kubernetes name from any other name', async () => {
    const response = await logIn(`${local}_upper`, `${local}_UPPER secret`)
    expect(response.code, response.body).to.equal(200)
    expect(claimsOf(JSON.parse(response.body).access_token).sub).to.equal(`${local}-upper`)
  })

  it('reject a wrong password and an unknown user in the same way, and an empty password', async () => {
    const responses = [await logIn(alice, 'wrong'), await logIn('nonexistent', 'wrong')]
    for (const response of responses)
      expect(rejection(response)).to.deep.equal([400, invalid('incorrect password')])
    // An empty password would be an anonymous bind in the directory. By RFC 6749 section 3.2, a
    // parameter without a value is treated as omitted.
    const missing = { error: 'invalid_request', error_description: 'the parameter password is required' }
    expect(rejection(await logIn(alice, ''))).to.deep.equal([400, missing])
  })

  it('are locked after too many wrong passwords', async () => {
    const name = uniqueName('guessed')
    const codes: number[] = []
    for (let i = 0; i < 12; i++) codes.push((await logIn(name, 'wrong')).code)
    expect(codes.filter(code => code === 400).length).to.be.within(1, 11)
    const last = await logIn(name, 'wrong')
    expect(rejection(last)).to.deep.equal([429, invalid('auth rate limit exceeded')])
    expect(Number(last.headers['retry-after'])).to.be.above(0)
  })

  it('name the directory user in the audit log, also while locked', async () => {
    for (let i = 0; i < 12; i++) await logIn(carol, 'wrong')
    expect((await logIn(carol, 'wrong')).code).to.equal(429)
    await eventually(async () => {
      const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'oauth.log'), 'utf8')
      const lines = log.split('\n').filter(line => line.includes('"reason":"locked"') && line.includes(carol))
      expect(lines.length).to.be.above(0)
    }, 20_000)
  })

  it('reject a user who is disabled', async () => {
    await patchUser(bob, { status: { state: 'Disabled' } }, '--subresource=status')
    await eventually(async () => {
      expect(rejection(await logIn(bob))).to.deep.equal([400, invalid('account is not active')])
    }, 5_000)
    await patchUser(bob, { status: { state: 'Active' } }, '--subresource=status')
  })

  const clients: readonly [string, Record<string, string>, number, object][] = [
    [
      'a missing client',
      {},
      401,
      { error: 'invalid_client', error_description: 'the OAuth client was not found' },
    ],
    [
      'a wrong client secret',
      { client_id: credentials.client_id, client_secret: 'wrong' },
      401,
      { error: 'invalid_client', error_description: 'invalid client credential' },
    ],
  ]
  for (const [what, client, code, body] of clients) {
    it(`reject ${what}`, async () => {
      const response = await form(`/oauth/login/${provider}`, {
        ...client,
        username: alice,
        password: `${alice} secret`,
      })
      expect(rejection(response)).to.deep.equal([code, body])
    })
  }

  it('accept client authentication with HTTP Basic', async () => {
    const basic = Buffer.from(`${credentials.client_id}:${credentials.client_secret}`).toString('base64')
    const headers = { authorization: `Basic ${basic}` }
    const fields = { username: alice, password: `${alice} secret` }
    expect((await form(`/oauth/login/${provider}`, fields, headers)).code).to.equal(200)
  })

  it('reject an unknown provider', async () => {
    const response = await form('/oauth/login/nowhere', { ...credentials, username: 'a', password: 'b' })
    expect(rejection(response)).to.deep.equal([
      404,
      { error: 'invalid_request', error_description: 'unknown identity provider' },
    ])
  })

  it('follow a changed provider without a restart: lookup creates no user', async () => {
    await configure({ mappingMethod: 'lookup', displayName: 'Corp' })
    await slapd.asManager(async client => {
      const [dn, attributes] = person(`${local}-new`)
      await client.add(dn, attributes as Record<string, string>)
    })
    await eventually(async () => {
      expect(rejection(await logIn(`${local}-new`))).to.deep.equal([
        400,
        invalid('no user is linked to this account of Corp; an administrator can link a user to it'),
      ])
    }, 5_000)
    await loggedIn(alice)
    await configure()
  })

  it('report an unexpected response of a directory, and log the cause', async () => {
    await applyProvider(document({}, { host: 'localhost:1' }))
    await eventually(async () => {
      expect(rejection(await logIn(alice))).to.deep.equal([
        503,
        {
          error: 'temporarily_unavailable',
          error_description: 'the identity provider returned an invalid response',
        },
      ])
    }, 10_000)
    const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'oauth.log'), 'utf8')
    expect(log).to.contain('ECONNREFUSED')
    expect(log).to.not.contain(manager.password)
    expect(log).to.not.contain(`${alice} secret`)
    await configure()
  })

  it('are disabled by an invalid Secret without affecting others, and work again when it is fixed', async () => {
    await applyProvider(document({ type: 'LDAP' }))
    await eventually(async () => void expect((await logIn(alice)).code).to.equal(404), 10_000)
    const admin = { username: setting('KAPIS_USER'), password: setting('KAPIS_PASSWORD') }
    expect((await token({ grant_type: 'password', ...admin })).code).to.equal(200)
    const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'oauth.log'), 'utf8')
    expect(log).to.contain('"path":"type","message":"must be one of LDAPIdentityProvider, ')
    await configure()
    await loggedIn(alice)
  })
})

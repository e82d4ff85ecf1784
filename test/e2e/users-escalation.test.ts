import { expect } from 'chai'
import { type Accounts, createAccounts, type Rule } from './account.ts'
import { accessToken, type HttpResponse, kubectl, kubectlOutput, uniqueName } from './cluster.ts'
import { eventually, groupDomain, logIn, sendAs } from './http.ts'

const group = `iam.${groupDomain}`
const base = `/kapis/${group}/v1alpha2/users`
const password = 'Correct horse 1'
const merge = 'application/merge-patch+json'

/** The permissions on users in the ClusterRole kapis:user-administrator. */
const administrator: readonly Rule[] = [
  {
    apiGroups: [group],
    resources: ['users', 'users/status'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  { apiGroups: [group], resources: ['users/password'], verbs: ['update'] },
]
const impersonate = (resource: string, ...resourceNames: readonly string[]): Rule => ({
  ...{ apiGroups: [''], resources: [resource], verbs: ['impersonate'] },
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
})
const anyGroup = 'resource "groups" in API group "" at the cluster scope'
const only = (verbs: readonly string[], ...resources: readonly string[]): Rule => ({
  ...{ apiGroups: [group], resources, verbs },
})

/**
 * Write access to users does not allow privilege escalation: a group, password, e-mail address or
 * known RBAC name requires permission to impersonate, and a password or state requires access to
 * its subresource.
 */
describe('callers who write users', function () {
  this.timeout(60_000)
  const made: string[] = []
  let accounts: Accounts
  let admin: string
  let plain: string

  const send = (token: string, method: string, path: string, body: unknown, type = 'application/json') =>
    sendAs(token, path, { method, headers: { 'content-type': type }, body: JSON.stringify(body) })
  const patch = (token: string, name: string, body: unknown) =>
    send(token, 'PATCH', `${base}/${name}`, body, merge)
  function draft(name: string, spec: object = {}, more: object = {}) {
    made.push(name)
    return { metadata: { name }, spec: { email: `${name}@e2e.test`, ...spec }, ...more }
  }
  async function newUser(spec: object = {}, more: object = {}): Promise<string> {
    const name = uniqueName(`target${made.length}`)
    expectCode(await send(admin, 'POST', base, draft(name, { password, ...spec }, more)), 201)
    return name
  }
  const forbidden = (response: HttpResponse, target: string, why: string) => {
    expect([response.code, JSON.parse(response.body).reason], response.body).to.deep.equal([403, 'Forbidden'])
    expect(JSON.parse(response.body).message).to.include(`${target} is forbidden: User `).and.include(why)
  }

  before(async () => {
    admin = await accessToken()
    accounts = await createAccounts('escalation')
    plain = await accounts.make('plain', administrator)
  })
  after(async () => {
    for (const name of made) await kubectl('delete', `users.${group}`, name, '--ignore-not-found')
    await kubectl('delete', 'clusterrolebinding', bound)
    await accounts.remove()
  })
  const bound = uniqueName('jane')

  it('can create users with a new name in one request', async () => {
    const name = uniqueName('ordinary')
    expectCode(await send(plain, 'POST', base, draft(name, { password, displayName: 'O' })), 201)
    expectCode(await patch(plain, name, { spec: { lang: 'de' } }), 200)
    const read = JSON.parse((await sendAs(plain, `${base}/${name}`)).body)
    const changed = { ...read, spec: { ...read.spec, displayName: 'P' } }
    expectCode(await send(plain, 'PUT', `${base}/${name}`, changed), 200)
    await eventually(async () => expectCode(await logIn(name, password), 200), 3_000)
    expectCode(await send(plain, 'PUT', `${base}/${name}/status`, { status: { state: 'Disabled' } }), 200)
    expectCode(await sendAs(plain, `${base}/${name}`, { method: 'DELETE' }), 200)
  })

  it('cannot assign a group without permission to impersonate it', async () => {
    const groups = ['platform-admins']
    const why = 'cannot impersonate resource "groups" in API group "" at the cluster scope'
    const refused = (response: HttpResponse) =>
      forbidden(response, 'groups "platform-admins"', `${why}: adding a user to this group requires it`)
    const fresh = uniqueName('grouped')
    for (const query of ['', '?dryRun=All'])
      refused(await send(plain, 'POST', base + query, draft(fresh, { groups })))
    expectCode(await sendAs(admin, `${base}/${fresh}`), 404)
    const name = await newUser({ groups: ['kept'] })
    refused(await patch(plain, name, { spec: { groups: ['kept', ...groups] } }))
    const read = JSON.parse((await sendAs(plain, `${base}/${name}`)).body)
    refused(await send(plain, 'PUT', `${base}/${name}`, { ...read, spec: { ...read.spec, groups } }))
    expect(JSON.parse((await sendAs(admin, `${base}/${name}`)).body).spec.groups).to.deep.equal(['kept'])
    // Sending or removing existing groups requires no permission.
    expectCode(await patch(plain, name, { spec: { groups: ['kept'], lang: 'en' } }), 200)
    const giver = await accounts.make('giver', [...administrator, impersonate('groups', 'developers')])
    expectCode(await patch(giver, name, { spec: { groups: ['developers'] } }), 200)
    refused(await patch(giver, name, { spec: { groups: ['developers', ...groups] } }))
    expectCode(await patch(plain, name, { spec: { groups: null } }), 200)
  })

  it('cannot create a user whose name RBAC already uses, without permission to impersonate it', async () => {
    const view = ['--clusterrole=view', `--user=${bound}`]
    await kubectlOutput('create', 'clusterrolebinding', bound, ...view)
    const local = uniqueName('local')
    await kubectlOutput(
      '-n',
      accounts.namespace,
      'create',
      'rolebinding',
      local,
      '--clusterrole=view',
      `--user=${local}`,
    )
    for (const name of [bound, local]) {
      forbidden(
        await send(plain, 'POST', base, draft(name)),
        `users "${name}"`,
        'cannot impersonate resource "users"',
      )
      expectCode(await sendAs(admin, `${base}/${name}`), 404)
    }
    const namer = await accounts.make('namer', [...administrator, impersonate('users', bound)])
    expectCode(await send(namer, 'POST', base, draft(bound)), 201)
  })

  it('cannot take over a user without permission to impersonate the user and each group', async () => {
    const name = await newUser({ groups: ['a-team', 'b-team'] })
    const link = { [`${group}/identity-provider.corp`]: 'someone' }
    const labels = { [`${group}/identify-provider`]: 'corp', [`${group}/origin-uid`]: 'someone' }
    const takeovers: readonly [string, (token: string) => Promise<HttpResponse>][] = [
      ['password', token => send(token, 'PUT', `${base}/${name}/password`, { password: 'Another horse 2' })],
      ['spec.password', token => patch(token, name, { spec: { password: 'Another horse 3' } })],
      ['e-mail', token => patch(token, name, { spec: { email: `${uniqueName('mail')}@e2e.test` } })],
      ['link', token => patch(token, name, { metadata: { annotations: link } })],
      ['link of 3.4', token => patch(token, name, { metadata: { labels } })],
    ]
    const userOnly = await accounts.make('user-only', [...administrator, impersonate('users', name)])
    const oneGroup = [...administrator, impersonate('users', name), impersonate('groups', 'a-team')]
    const most = await accounts.make('most', oneGroup)
    const every = await accounts.make('every', [...oneGroup, impersonate('groups', 'b-team')])
    for (const [what, take] of takeovers) {
      forbidden(await take(plain), `users "${name}"`, 'cannot impersonate resource "users"')
      forbidden(await take(userOnly), 'groups "a-team"', 'logging in as a member of this group requires it')
      forbidden(await take(most), 'groups "b-team"', 'cannot impersonate resource "groups"')
      expectCode(await logIn(name, password), 200)
      if (what === 'e-mail') expectCode(await take(every), 200)
      if (what.startsWith('link')) forbidden(await take(every), 'groups', `cannot impersonate ${anyGroup}`)
    }
    const linker = await accounts.make('linker', [...oneGroup, impersonate('groups')])
    expectCode((await takeovers.at(-1)?.[1](linker)) ?? { code: 0, body: '' }, 200)
    const [reset] = takeovers
    expectCode((await reset?.[1](every)) ?? { code: 0, body: '' }, 200)
  })

  it('cannot link a new user to an account, whose groups the provider would add later', async () => {
    const [name, other] = [uniqueName('linked'), uniqueName('linked-34')]
    const annotations = { [`${group}/identity-provider.corp`]: uniqueName('someone') }
    const labels = { [`${group}/identify-provider`]: 'corp', [`${group}/origin-uid`]: uniqueName('someone') }
    const drafts = [draft(name, { password }), draft(other, { password })].map((user, i) => ({
      ...user,
      metadata: { ...user.metadata, ...(i === 0 ? { annotations } : { labels }) },
    }))
    const named = await accounts.make('named', [...administrator, impersonate('users', name, other)])
    for (const user of drafts) {
      forbidden(await send(plain, 'POST', base, user), `users "${user.metadata.name}"`, 'cannot impersonate')
      forbidden(await send(named, 'POST', base, user), 'groups', `cannot impersonate ${anyGroup}`)
      expectCode(await sendAs(admin, `${base}/${user.metadata.name}`), 404)
      expectCode(await send(admin, 'POST', base, user), 201)
    }
  })

  it('need permission for the groups that an identity provider has reported, too', async () => {
    const name = await newUser()
    const token = await accounts.make('unaware', [...administrator, impersonate('users', name)])
    // kapis-oauth removes the groups of a provider that does not exist, possibly before the request.
    await eventually(async () => {
      const observedAt = new Date().toISOString()
      const providerGroups = [{ provider: 'corp', groups: ['reported'], observedAt }]
      const status = JSON.stringify({ status: { providerGroups } })
      await kubectlOutput(
        ...['patch', `users.${group}`, name, '--subresource=status', '--type=merge', '-p', status],
      )
      const reset = await send(token, 'PUT', `${base}/${name}/password`, { password: 'Another horse 2' })
      forbidden(reset, 'groups "reported"', 'cannot impersonate resource "groups"')
    }, 10_000)
  })

  it('cannot reset the password of the administrator', async () => {
    const responses = [
      await send(plain, 'PUT', `${base}/admin/password`, { password: 'Another horse 2' }),
      await patch(plain, 'admin', { spec: { password: 'Another horse 2' } }),
    ]
    for (const response of responses)
      forbidden(response, 'users "admin"', 'cannot impersonate resource "users"')
  })

  describe('without the permission on a subresource', () => {
    let writer: string
    before(async () => {
      const all: Rule = { apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] }
      const verbs = ['get', 'create', 'update', 'patch']
      writer = await accounts.make('writer', [only(verbs, 'users'), all])
    })

    it('cannot set a password, with any verb', async () => {
      const name = await newUser()
      const next = { password: 'Another horse 2' }
      const spec = { email: `${name}@e2e.test`, ...next }
      const why = 'cannot update resource "users/password"'
      const fresh = uniqueName('with-password')
      const responses = [
        await send(writer, 'PUT', `${base}/${name}/password`, next),
        await patch(writer, name, { spec: next }),
        await send(writer, 'PUT', `${base}/${name}`, { spec }),
        await send(writer, 'PUT', `${base}/${name}?dryRun=All`, { spec }),
      ]
      for (const response of responses) forbidden(response, `users.${group} "${name}"`, why)
      forbidden(await send(writer, 'POST', base, draft(fresh, next)), `users.${group} "${fresh}"`, why)
      expectCode(await logIn(name, password), 200)
    })

    it('cannot set a state, with any verb, but may send the stored one', async () => {
      const name = await newUser()
      const status = { state: 'Disabled' }
      const spec = { email: `${name}@e2e.test` }
      const why = 'cannot update resource "users/status"'
      const responses = [
        await send(writer, 'PUT', `${base}/${name}/status`, { status }),
        await patch(writer, name, { status }),
        await send(writer, 'PUT', `${base}/${name}`, { spec, status }),
      ]
      for (const response of responses) forbidden(response, `users.${group} "${name}"`, why)
      const fresh = uniqueName('disabled')
      forbidden(
        await send(writer, 'POST', base, draft(fresh, {}, { status })),
        `users.${group} "${fresh}"`,
        why,
      )
      const read = JSON.parse((await sendAs(writer, `${base}/${name}`)).body)
      expect(read.status.state).to.equal('Active')
      expectCode(await send(writer, 'PUT', `${base}/${name}`, read), 200)
      expectCode(await patch(writer, name, { spec: { lang: 'en' }, status: { state: 'Active' } }), 200)
    })
  })
})

function expectCode({ code, body }: Pick<HttpResponse, 'code' | 'body'>, expected: number): void {
  expect(code, body).to.equal(expected)
}

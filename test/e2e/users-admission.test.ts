import { expect } from 'chai'
import { type Accounts, createAccounts, type Rule } from './account.ts'
import { accessToken, type HttpResponse, kubectl, sendToKube, uniqueName } from './cluster.ts'
import { apply, groupDomain, sendAs } from './http.ts'
import { claimsOf } from './oauth.ts'

const group = `iam.${groupDomain}`
const base = `/apis/${group}/v1alpha2`
const users = `${base}/users`
const hash = `$2b$10$${'a'.repeat(53)}`
const merge = 'application/merge-patch+json'
const json = 'application/json'
const observedAt = '2026-01-01T00:00:00Z'

const writing = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
const rule = (resources: readonly string[], verbs: readonly string[]): Rule => ({
  ...{ apiGroups: [group], resources, verbs },
})
const impersonate = (resource: string, ...resourceNames: readonly string[]): Rule => ({
  ...{ apiGroups: [''], resources: [resource], verbs: ['impersonate'] },
  ...(resourceNames.length > 0 ? { resourceNames } : {}),
})
const administrator = [rule(['users', 'users/status'], writing), rule(['users/password'], ['update'])]

type Send = (method: string, path: string, body?: object, type?: string) => Promise<HttpResponse>

/**
 * Rules for users that admission of kube-apiserver enforces: writing a User directly must not give
 * access to another user.
 */
describe('admission of users in kube-apiserver', function () {
  this.timeout(90_000)
  const made: string[] = []
  let accounts: Accounts

  before(async () => {
    accounts = await createAccounts('admission')
  })
  after(async () => {
    for (const name of made) await kubectl('delete', `users.${group}`, name, '--ignore-not-found')
    await accounts.remove()
  })

  function userOf(name: string, spec: object = {}, metadata: object = {}) {
    made.push(name)
    const body = { apiVersion: `${group}/v1alpha2`, kind: 'User', metadata: { ...metadata, name } }
    return { ...body, spec: { email: `${name}@e2e.test`, ...spec } }
  }
  async function newUser(spec: object = {}): Promise<string> {
    const name = uniqueName(`direct${made.length}`)
    await apply(userOf(name, spec))
    return name
  }
  const askerOf =
    (send: typeof sendToKube, token: string): Send =>
    (method, path, body, type = json) =>
      send(token, path, {
        method,
        ...(body === undefined ? {} : { headers: { 'content-type': type }, body: JSON.stringify(body) }),
      })
  function forbidden({ code, body }: HttpResponse, why: string): void {
    expect(code, body).to.equal(403)
    expect(JSON.parse(body).reason).to.equal('Forbidden')
    expect(JSON.parse(body).message).to.include(why)
  }
  const noUser = 'cannot impersonate resource "users" in API group "" at the cluster scope: making this user'
  const noGroup = 'cannot impersonate resource "groups" in API group "" at the cluster scope'
  const noPassword = `cannot update resource "users/password" in API group "${group}" at the cluster scope`
  const applyType = 'application/apply-patch+yaml'

  for (const [way, send] of [
    ['directly', sendToKube],
    ['through Kapis', sendAs],
  ] as const) {
    describe(way, () => {
      const account = async (name: string, ...rules: readonly Rule[]) =>
        askerOf(send, await accounts.make(`${way === 'directly' ? 'a' : 'b'}-${name}`, rules))

      it('creates no user without permission to impersonate it, with any verb', async () => {
        const plain = await account('plain', ...administrator)
        const name = uniqueName('new')
        const body = userOf(name)
        forbidden(await plain('POST', users, body), noUser)
        forbidden(await plain('POST', `${users}?dryRun=All`, body), noUser)
        forbidden(await plain('PATCH', `${users}/${name}?fieldManager=e2e`, body, applyType), noUser)
        const namer = await account('namer', ...administrator, impersonate('users', name))
        expect((await namer('POST', users, body)).code).to.equal(201)
      })

      it('assigns no group without permission to impersonate it, with any patch type', async () => {
        const name = await newUser({ groups: ['kept'] })
        const at = `${users}/${name}`
        const groups = ['kept', 'platform-admins']
        const giver = await account('giver', ...administrator, impersonate('groups', 'developers', 'kept'))
        const jsonPatch = [{ op: 'add', path: '/spec/groups/-', value: 'platform-admins' }]
        const read = JSON.parse((await giver('GET', at)).body)
        const responses = [
          await giver('PATCH', at, { spec: { groups } }, merge),
          await giver('PATCH', at, jsonPatch, 'application/json-patch+json'),
          await giver('PATCH', `${at}?fieldManager=e2e&force=true`, userOf(name, { groups }), applyType),
          await giver('PUT', at, { ...read, spec: { ...read.spec, groups } }),
        ]
        for (const response of responses) forbidden(response, noGroup)
        expect((await giver('PATCH', at, { spec: { groups: ['kept', 'developers'] } }, merge)).code).to.equal(
          200,
        )
        expect(
          (await giver('PATCH', at, { spec: { lang: 'de', groups: ['developers'] } }, merge)).code,
        ).to.equal(200)
      })

      it('checks each of the groups', async () => {
        const name = await newUser()
        const many = Array.from({ length: 8 }, (_, i) => `group-${i}`)
        const at = `${users}/${name}`
        const giver = await account('many', ...administrator, impersonate('groups', ...many))
        for (let i = 0; i < many.length; i++) {
          const groups = many.with(i, 'platform-admins')
          forbidden(await giver('PATCH', `${at}?dryRun=All`, { spec: { groups } }, merge), noGroup)
        }
        forbidden(
          await giver('PATCH', `${at}?dryRun=All`, { spec: { groups: [...many, 'ninth'] } }, merge),
          `${noGroup}: more than 8 groups in one request`,
        )
        expect((await giver('PATCH', at, { spec: { groups: many } }, merge)).code).to.equal(200)
        const every = await account('every', ...administrator, impersonate('groups'))
        const groups = Array.from({ length: 256 }, (_, i) => `other-${i}`)
        const response = await every('PATCH', at, { spec: { groups } }, merge)
        expect(response.code, response.body).to.equal(200)
      })

      it('allows no takeover of a user without permission to impersonate the user and each group', async () => {
        const name = await newUser({ groups: ['a-team'] })
        const at = `${users}/${name}`
        const link = { [`${group}/identity-provider.corp`]: 'someone' }
        const labels = { [`${group}/identify-provider`]: 'corp', [`${group}/origin-uid`]: 'someone' }
        const takeovers = [
          { spec: { password: hash } },
          { spec: { email: `${uniqueName('mail')}@e2e.test` } },
          { metadata: { annotations: link } },
          { metadata: { labels } },
        ]
        const plain = await account('none', ...administrator)
        const half = await account('half', ...administrator, impersonate('users', name))
        const whole = [...administrator, impersonate('users', name), impersonate('groups', 'a-team')]
        const every = await account('whole', ...whole)
        const linker = await account('linker', ...whole, impersonate('groups'))
        for (const body of takeovers) {
          forbidden(await plain('PATCH', at, body, merge), noUser)
          forbidden(await half('PATCH', at, body, merge), `${noGroup}: the groups a-team require it`)
          // A link is forbidden, since the identity provider may report any groups at a later
          // login.
          const isLink = 'metadata' in body
          if (isLink) forbidden(await every('PATCH', at, body, merge), `${noGroup}: a link to an identity`)
          const taker = isLink ? linker : every
          expect((await taker('PATCH', `${at}?dryRun=All`, body, merge)).code).to.equal(200)
        }
        expect((await plain('PATCH', at, { metadata: { labels: { team: 'x' } } }, merge)).code).to.equal(200)
        const without = [
          rule(['users'], writing),
          impersonate('users', name),
          impersonate('groups', 'a-team'),
        ]
        const unentitled = await account('unentitled', ...without)
        forbidden(await unentitled('PATCH', at, { spec: { password: hash } }, merge), noPassword)
      })

      it('lets only Kapis write the groups from an identity provider', async () => {
        const name = await newUser()
        const plain = await account('status', ...administrator)
        const providerGroups = [{ provider: 'corp', groups: ['platform-admins'], observedAt }]
        const at = `${users}/${name}/status`
        forbidden(await plain('PATCH', at, { status: { providerGroups } }, merge), noGroup)
        const state = { status: { state: 'Disabled' } }
        expect((await plain('PATCH', at, state, merge)).code).to.equal(200)
      })

      it('lets only those who may impersonate the user approve a device or extend a session', async () => {
        const plain = await account('device', rule(['deviceauthorizations', 'loginsessions'], writing))
        const device = {
          apiVersion: `${group}/v1alpha2`,
          kind: 'DeviceAuthorization',
          metadata: { name: uniqueName('device') },
          spec: { clientId: 'kapis', expiresAt: '2126-01-01T00:00:00Z', decision: 'Approved', user: 'admin' },
        }
        const why = 'cannot impersonate resources "users" and "groups"'
        forbidden(await plain('POST', `${base}/deviceauthorizations`, device), why)
        const spec = { user: 'admin', expiresAt: '2126-01-01T00:00:00Z' }
        const login = { ...device, kind: 'LoginSession', spec }
        forbidden(await plain('POST', `${base}/loginsessions`, login), why)
        const at = `${base}/loginsessions/${claimsOf(await accessToken()).sid}`
        forbidden(await plain('PATCH', at, { spec: { ended: '' } }, merge), why)
        expect((await plain('DELETE', `${at}?dryRun=All`)).code).to.equal(200)
      })
    })
  }
})

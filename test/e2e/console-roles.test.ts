import { expect } from 'chai'
import { type Accounts, createAccounts } from './account.ts'
import { accessToken, kubectl, makeNamespace, uniqueName } from './cluster.ts'
import { askAs, eventually, groupDomain } from './http.ts'

const base = `/kapis/iam.${groupDomain}/v1alpha2`
const namespace = uniqueName('members')

describe('roles and members for consoles of KubeSphere 3.4', function () {
  this.timeout(60_000)
  const user = uniqueName('ann')
  let accounts: Accounts
  let admin = ''
  let plain = ''

  const send = async (token: string, method: string, path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
    const answer = await askAs(token, `${base}${path}`, { method, ...sent })
    return { code: answer.code, body: JSON.parse(answer.body) }
  }
  const namesOf = (items: readonly { readonly metadata: { readonly name: string } }[]) =>
    items.map(({ metadata }) => metadata.name)

  before(async () => {
    admin = await accessToken()
    accounts = await createAccounts('roles')
    plain = await accounts.make('plain', [])
    await makeNamespace(namespace, [])
  })
  after(async () => {
    await kubectl('delete', 'namespace', namespace, '--wait=false')
    await accounts.remove()
  })

  it('the first administrator is one of the platform, by a group', async () => {
    const { code, body } = await send(admin, 'GET', '/users/admin/globalroles')
    expect(code, JSON.stringify(body)).to.equal(200)
    expect(namesOf(body)).to.deep.equal(['platform-admin'])
    const rules = body[0].metadata.annotations[`iam.${groupDomain}/role-template-rules`]
    expect(JSON.parse(rules).workspaces).to.include('manage')
  })

  it('members of a namespace are added, changed and removed as role bindings of the caller', async () => {
    const members = `/namespaces/${namespace}/members`
    const roles = async () => {
      const { items } = (await send(admin, 'GET', members)).body
      return items.map(
        ({ metadata }: { metadata: { name: string; annotations: Record<string, string> } }) => [
          metadata.name,
          metadata.annotations[`iam.${groupDomain}/role`],
        ],
      )
    }
    const viewer = [{ username: user, roleRef: 'viewer' }]
    expect(await send(admin, 'POST', members, viewer)).to.deep.equal({ code: 200, body: viewer })
    expect(await roles()).to.deep.equal([[user, 'viewer']])
    const operator = { username: user, roleRef: 'operator' }
    expect(await send(admin, 'PUT', `${members}/${user}`, operator)).to.deep.equal({
      code: 200,
      body: operator,
    })
    expect(await roles()).to.deep.equal([[user, 'operator']])
    expect((await send(admin, 'DELETE', `${members}/${user}`)).body).to.deep.equal({ message: 'success' })
    expect(await roles()).to.deep.equal([])
  })

  it('nobody gives more than they have, or sees who has what, without the right to it', async () => {
    const members = `/namespaces/${namespace}/members`
    const refused = await send(plain, 'POST', members, [{ username: user, roleRef: 'viewer' }])
    expect(refused.code).to.equal(403)
    expect(refused.body.message).to.contain('cannot list resource "rolebindings"')
    for (const path of [members, '/clustermembers', '/globalroles', '/users/admin/globalroles'])
      expect((await send(plain, 'GET', path)).code, path).to.equal(403)
    // A caller who may create bindings still cannot grant more than they have.
    const bindings = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'] }
    const rule = { ...bindings, verbs: ['create', 'list'] }
    const binder = await accounts.make('binder', [rule])
    await eventually(async () => {
      const escalated = await send(binder, 'POST', members, [{ username: user, roleRef: 'admin' }])
      expect(escalated.body.message).to.contain('attempting to grant RBAC permissions not currently held')
      expect(escalated.code).to.equal(403)
    }, 10_000)
  })
})

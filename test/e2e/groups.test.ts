import { expect } from 'chai'
import { type Accounts, createAccounts } from './account.ts'
import { accessToken, kubectl, kubectlOutput, makeNamespace, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { createUser, loginAs, removeUser } from './oauth.ts'

const iam = `/kapis/iam.${groupDomain}/v1alpha2`
const workspace = uniqueName('groups')

describe('groups for KubeSphere 3.4 consoles', function () {
  this.timeout(60_000)
  let accounts: Accounts
  let admin = ''
  let token = ''
  let group = ''
  const user = uniqueName('member')
  const password = 'Correct-Horse-1'

  const send = async (method: string, path: string, body?: unknown, as = admin) => {
    const headers = { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
    const response = await sendAs(as, path, { method, ...sent })
    return { code: response.code, body: JSON.parse(response.body) }
  }
  const at = (path: string) => `${iam}/workspaces/${workspace}${path}`
  const deployments = `/apis/apps/v1/namespaces/${workspace}/deployments`
  const groupsOf = async () => (await send('GET', `${iam}/users/${user}`)).body.spec.groups ?? []

  before(async () => {
    admin = await accessToken()
    accounts = await createAccounts('groups')
    await createUser({ username: user, password })
    token = (await loginAs({ username: user, password })).access_token
    const metadata = { name: workspace }
    const template = { kind: 'WorkspaceTemplate', metadata }
    const made = await send('POST', `/kapis/tenant.${groupDomain}/v1alpha3/workspacetemplates`, template)
    expect(made.code, JSON.stringify(made.body)).to.equal(201)
    await makeNamespace(workspace, [])
    await kubectlOutput('label', 'namespace', workspace, `${groupDomain}/workspace=${workspace}`)
  })
  after(async () => {
    await kubectl('delete', 'namespace', workspace, '--wait=false')
    await kubectl('delete', `workspaces.tenant.${groupDomain}`, workspace, '--wait=false')
    await accounts.remove()
    await removeUser(user)
  })

  it('are created as the console does, and listed', async () => {
    const { code, body } = await send('POST', at('/groups'), { metadata: { generateName: 'quality' } })
    expect(code, JSON.stringify(body)).to.equal(201)
    group = body.metadata.name
    await eventually(async () => {
      const list = await send('GET', at('/groups?sortBy=createTime&limit=-1'))
      expect(list.body.items?.[0]?.metadata.generateName, JSON.stringify(list.body)).to.equal('quality')
    }, 20_000)
    expect((await send('POST', at('/groups'), { metadata: { generateName: 'quality' } })).code).to.equal(409)
  })

  it('give their members the permissions of the group in the workspace', async () => {
    expect((await send('GET', deployments, undefined, token)).code).to.equal(403)
    const binding = {
      roleRef: { kind: 'WorkspaceRole', name: `${workspace}-viewer` },
      subjects: [{ kind: 'Group', name: group }],
    }
    const bound = await send('POST', at('/workspacerolebindings'), [binding])
    expect(bound.code, JSON.stringify(bound.body)).to.equal(200)
    const joined = await send('POST', at('/groupbindings'), [{ userName: user, groupName: group }])
    expect(joined.code, JSON.stringify(joined.body)).to.equal(200)
    expect(await groupsOf()).to.deep.equal([group])
    await eventually(async () => {
      expect((await send('GET', deployments, undefined, token)).code).to.equal(200)
    }, 20_000)
    const inProjects = await send('GET', at('/rolebindings'))
    expect(inProjects.body).to.be.an('array')
    expect(inProjects.body[0]).to.deep.include({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'viewer' },
    })
    const selector = `iam.${groupDomain}/group-ref=${group},iam.${groupDomain}/user-ref=${user}`
    const shown = await send('GET', at(`/groupbindings?labelSelector=${encodeURIComponent(selector)}`))
    expect(shown.body.items[0].metadata.name).to.equal(`${group}:${user}`)
  })

  it('accept a new member only from a caller who may impersonate the group', async () => {
    const rules = [
      { apiGroups: [`iam.${groupDomain}`], resources: ['users', 'groups'], verbs: ['list', 'update'] },
    ]
    const limited = await accounts.make('limited', rules)
    await eventually(async () => {
      const body = [{ userName: 'admin', groupName: group }]
      const refused = await send('POST', at('/groupbindings'), body, limited)
      expect(refused.body.message).to.contain('cannot impersonate resource "groups"')
      expect(refused.code).to.equal(403)
    }, 10_000)
  })

  it('remove all of these permissions when they are deleted', async () => {
    expect((await send('DELETE', at(`/groups/${group}`))).code).to.equal(200)
    await eventually(async () => {
      expect(await groupsOf()).to.deep.equal([])
      expect((await send('GET', deployments, undefined, token)).code).to.equal(403)
    }, 20_000)
    const bindings = await kubectlOutput('get', 'rolebindings,clusterrolebindings', '-A', '-o=yaml')
    expect(bindings).not.to.contain(group)
  })
})

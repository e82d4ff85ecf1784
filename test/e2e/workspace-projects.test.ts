import { expect } from 'chai'
import { type Accounts, createAccounts } from './account.ts'
import { accessToken, type HttpResponse, kubectl, kubectlJson, kubectlOutput, uniqueName } from './cluster.ts'
import { askRaw, eventually, groupDomain, sendAs } from './http.ts'
import { createUser, loginAs, removeUser } from './oauth.ts'
import { setting } from './run.ts'

const tenant = `tenant.${groupDomain}`
const workspaces = `/kapis/${tenant}/v1alpha2/workspaces`
const iam = `/kapis/iam.${groupDomain}/v1alpha2`
const [blue = '', red = ''] = ['blue', 'red'].map(name => uniqueName(name))
const names = ['maker', 'boss', 'looker', 'guest', 'stranger'] as const
const made: string[] = []
const withinMs = 10_000

type Name = (typeof names)[number]
type Headers = Readonly<Record<string, string>>

/** Returns a name of a project, which is deleted after the tests. */
function projectName(): string {
  const name = uniqueName('project')
  made.push(name)
  return name
}

function send(token: string, method: string, path: string, body?: unknown, headers: Headers = {}) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return sendAs(token, path, { method, headers: { 'content-type': type, ...headers }, ...sent })
}

const messageOf = ({ body }: HttpResponse): string => JSON.parse(body).message
const inWorkspace = (workspace: string) => `${workspaces}/${workspace}/namespaces`

async function exists(namespace: string): Promise<boolean> {
  return (await kubectl('get', 'namespace', namespace)).code === 0
}

/** Returns the ClusterRoles that bindings in a namespace grant, as `user role`. */
async function grantsIn(namespace: string): Promise<readonly string[]> {
  const { items } = Object(await kubectlJson('-n', namespace, 'get', 'rolebindings'))
  return items
    .flatMap(({ roleRef, subjects }: { roleRef: { name: string }; subjects: { name: string }[] }) =>
      subjects.map(({ name }) => `${name} ${roleRef.name}`),
    )
    .sort()
}

async function mayCreate(user: string, ...resource: readonly string[]): Promise<string> {
  return (await kubectl('auth', 'can-i', 'create', ...resource, '--as', user)).stdout.trim()
}

describe('projects of members of a workspace', function () {
  this.timeout(90_000)
  const users = Object.fromEntries(names.map(name => [name, uniqueName(name)]))
  const tokens: Record<string, string> = {}
  let admin = ''
  let accounts: Accounts
  const named = (name: Name) => users[name] ?? ''
  const as = (name: Name) => tokens[name] ?? ''

  async function invite(name: Name, workspace: string, role: string): Promise<void> {
    const member = [{ username: named(name), roleRef: `${workspace}-${role}` }]
    const added = await send(admin, 'POST', `${iam}/workspaces/${workspace}/workspacemembers`, member)
    expect([added.code, added.headers.warning], added.body).to.deep.equal([200, undefined])
  }
  const create = (who: Name, metadata: object, more: object = {}, at = inWorkspace(blue)) =>
    send(as(who), 'POST', at, { kind: 'Namespace', apiVersion: 'v1', metadata, ...more })

  before(async () => {
    admin = await accessToken()
    accounts = await createAccounts('projects')
    for (const workspace of [blue, red]) {
      const body = { metadata: { name: workspace }, spec: { template: { spec: {} } } }
      const { code, body: text } = await send(admin, 'POST', workspaces, body)
      expect(code, text).to.equal(201)
    }
    for (const name of names) {
      const login = { username: named(name), password: 'Correct horse 1' }
      await createUser(login)
      tokens[name] = (await loginAs(login)).access_token
    }
    await invite('boss', blue, 'admin')
    await invite('maker', blue, 'self-provisioner')
    await invite('looker', blue, 'viewer')
    await invite('guest', blue, 'regular')
    await invite('stranger', red, 'admin')
  })
  after(async () => {
    await kubectl('delete', 'namespace', ...made, '--wait=false', '--ignore-not-found')
    await kubectl('delete', `workspaces.${tenant}`, blue, red)
    for (const name of names) await removeUser(named(name))
    await accounts.remove()
  })

  it('an invitation as self-provisioner is enough to create one, and to become its administrator', async () => {
    const name = projectName()
    const annotations = { [`${groupDomain}/alias-name`]: 'Ours', [`${groupDomain}/description`]: 'of us' }
    const labels = { [`${groupDomain}/workspace`]: blue }
    let response: HttpResponse | undefined
    await eventually(async () => {
      response = await create('maker', { name, labels, annotations }, { spec: {}, status: {} })
      expect(response.code, response.body).to.equal(201)
    }, withinMs)
    expect(response?.headers.warning).to.equal(undefined)
    const { metadata } = Object(await kubectlJson('get', 'namespace', name))
    expect(metadata.labels).to.deep.equal({ 'kubernetes.io/metadata.name': name, ...labels })
    expect(metadata.annotations).to.deep.equal({
      ...annotations,
      [`${groupDomain}/creator`]: named('maker'),
    })
    expect(await grantsIn(name)).to.deep.equal(
      [
        `${named('boss')} admin`,
        `${named('looker')} view`,
        `${named('maker')} admin`,
        `${named('maker')} edit`,
      ].sort(),
    )
    // kube-apiserver applies the permissions when the response arrives.
    const configMap = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c' } }
    const path = `/api/v1/namespaces/${name}/configmaps`
    expect(await send(as('maker'), 'POST', path, configMap)).to.include({ code: 201 })
    const listed = await send(as('maker'), 'GET', inWorkspace(blue))
    expect(listed.body).to.contain(name)
  })

  it('kubectl auth can-i shows the permission, which applies to one workspace', async () => {
    const of = (workspace: string) => [`workspaces.${tenant}/${workspace}`, '--subresource=namespaces']
    const answers: unknown[] = []
    for (const name of ['maker', 'boss', 'looker', 'guest'] as const)
      answers.push([
        name,
        await mayCreate(named(name), ...of(blue)),
        await mayCreate(named(name), ...of(red)),
        await mayCreate(named(name), 'namespaces'),
      ])
    expect(answers).to.deep.equal([
      ['maker', 'yes', 'no', 'no'],
      ['boss', 'yes', 'no', 'no'],
      ['looker', 'no', 'no', 'no'],
      ['guest', 'no', 'no', 'no'],
    ])
  })

  it('an administrator of the workspace creates one at every path', async () => {
    for (const path of [
      `/kapi/${tenant}/v1alpha2/workspaces/${blue}/namespaces`,
      `/kapis/clusters/host/${tenant}/v1alpha2/workspaces/${blue}/namespaces`,
      `/clusters/host${inWorkspace(blue)}`,
    ]) {
      const name = projectName()
      const { code, body, headers } = await create('boss', { name }, {}, path)
      expect([code, headers.warning], body).to.deep.equal([201, undefined])
      const grants = await grantsIn(name)
      expect(grants.filter(each => each.startsWith(named('boss')))).to.deep.equal([`${named('boss')} admin`])
      // The others are members with their own roles.
      expect(grants).to.include(`${named('maker')} edit`)
    }
  })

  it('kube-apiserver completes generateName, and validates names', async () => {
    const prefix = `${uniqueName('generated')}-`
    const { code, body } = await create('maker', { generateName: prefix })
    expect(code, body).to.equal(201)
    const { name } = JSON.parse(body).metadata
    made.push(name)
    expect(name.startsWith(prefix)).to.equal(true)
    expect(await grantsIn(name)).to.include(`${named('maker')} admin`)
    expect(await create('maker', { name: 'Not_Valid' })).to.include({ code: 422 })
    expect(await create('maker', {})).to.include({ code: 422 })
  })

  const label = (key: string, value: string) => ({ labels: { [key]: value } })
  const kapisNamespace = setting('KAPIS_NAMESPACE')
  const rejected: readonly (readonly [metadata: object, field: string, more?: object])[] = [
    [
      label('pod-security.kubernetes.io/enforce', 'privileged'),
      'metadata.labels[pod-security.kubernetes.io/enforce]',
    ],
    [label('a', 'b'), 'metadata.labels[a]'],
    [label(`${groupDomain}/workspace`, red), `metadata.labels[${groupDomain}/workspace]`],
    [label('kubernetes.io/metadata.name', 'kube-system'), 'metadata.labels[kubernetes.io/metadata.name]'],
    [
      { annotations: { 'scheduler.alpha.kubernetes.io/node-selector': 'a=b' } },
      'metadata.annotations[scheduler.alpha.kubernetes.io/node-selector]',
    ],
    [{ finalizers: ['example.org/x'] }, 'metadata.finalizers'],
    [
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: 'u' }] },
      'metadata.ownerReferences',
    ],
    [{}, 'spec', { spec: { finalizers: ['example.org/x'] } }],
    [{}, 'status', { status: { phase: 'Terminating' } }],
    [{ name: 'kube-extra' }, 'metadata.name'],
    [{ name: 'kube-system' }, 'metadata.name'],
    [{ name: 'default' }, 'metadata.name'],
    [{ name: kapisNamespace }, 'metadata.name'],
    [{ name: undefined, generateName: 'kube-' }, 'metadata.generateName'],
  ]
  for (const [metadata, field, more] of rejected)
    it(`rejects ${JSON.stringify({ metadata, ...more })}, as ${field}`, async () => {
      const name = projectName()
      const response = await create('maker', { name, ...metadata }, more)
      expect(response.code, response.body).to.equal(422)
      expect(
        JSON.parse(response.body)
          .details.causes.map(Object)
          .map(({ field: at }: { field: string }) => at),
      ).to.deep.equal([field])
      expect(await exists(name)).to.equal(false)
    })

  it('records the creator, whatever the body says', async () => {
    const name = projectName()
    const { code, headers } = await create('maker', {
      name,
      annotations: { [`${groupDomain}/creator`]: 'admin' },
    })
    expect(code).to.equal(201)
    expect(headers.warning).to.contain('the creator of the namespace is')
    const { metadata } = Object(await kubectlJson('get', 'namespace', name))
    expect(metadata.annotations).to.deep.equal({ [`${groupDomain}/creator`]: named('maker') })
    expect(await grantsIn(name)).to.not.include('admin admin')
  })

  it('callers without the permission get the 403 of kube-apiserver, with a hint', async () => {
    const name = projectName()
    for (const who of ['looker', 'guest'] as const) {
      const response = await create(who, { name })
      expect(response.code, who).to.equal(403)
      expect(messageOf(response)).to.equal(
        `namespaces is forbidden: User "${named(who)}" cannot create resource "namespaces" in API group "" at the cluster scope; in the workspace "${blue}", create on resource "workspaces/namespaces" in API group "${tenant}" with its name is sufficient`,
      )
    }
    const response = await create('stranger', { name })
    expect([response.code, messageOf(response)]).to.deep.equal([
      404,
      `workspaces.${tenant} "${blue}" not found`,
    ])
    expect(await exists(name)).to.equal(false)
  })

  it('the permission applies to no other workspace and no other path', async () => {
    const name = projectName()
    const body = {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name, ...label(`${groupDomain}/workspace`, blue) },
    }
    const codes: unknown[] = []
    const paths = [
      inWorkspace(red),
      inWorkspace(`${blue}%20`),
      inWorkspace(blue.toUpperCase()),
      inWorkspace(`${blue}%2f..%2f${red}`),
      inWorkspace(`${blue}/../${red}`),
      `${inWorkspace(blue)}/${name}`,
      `/kapis/${tenant}/v1alpha2/namespaces`,
      `/kapis/${tenant}/v1alpha3/workspaces/${blue}/namespaces`,
      `/kapis/resources.${groupDomain}/v1alpha3/namespaces`,
      '/api/v1/namespaces',
      `/apis/${tenant}/v1alpha1/workspaces/${blue}/namespaces`,
    ]
    for (const path of paths) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${as('maker')}` }
      const { code } = await askRaw(path, { method: 'POST', headers, body: JSON.stringify(body) })
      codes.push([path, code])
    }
    expect(codes).to.deep.equal(
      [404, 404, 404, 400, 400, 405, 405, 404, 403, 403, 404].map((code, i) => [paths[i], code]),
    )
    expect(await exists(name)).to.equal(false)
  })

  it('a namespace that exists is never adopted', async () => {
    const name = projectName()
    await kubectlOutput('create', 'namespace', name)
    const response = await create('maker', { name })
    expect([response.code, messageOf(response)]).to.deep.equal([409, `namespaces "${name}" already exists`])
    expect(await grantsIn(name)).to.deep.equal([])
  })

  it('of concurrent requests for a name, one creates it, and only its caller becomes the administrator', async () => {
    const name = projectName()
    const callers = ['maker', 'boss', 'maker', 'boss', 'maker', 'boss'] as const
    const responses = await Promise.all(callers.map(who => create(who, { name })))
    const codes = responses.map(({ code }) => code)
    expect(codes.toSorted()).to.deep.equal([201, 409, 409, 409, 409, 409])
    const winner = named(callers[codes.indexOf(201)] ?? 'guest')
    const { metadata } = Object(await kubectlJson('get', 'namespace', name))
    expect(metadata.annotations).to.deep.equal({ [`${groupDomain}/creator`]: winner })
    expect(await grantsIn(name)).to.deep.equal(
      [
        `${named('boss')} admin`,
        `${named('looker')} view`,
        `${named('maker')} edit`,
        ...(winner === named('maker') ? [`${winner} admin`] : []),
      ].sort(),
    )
  })

  it('a dry run creates nothing, and a field manager is recorded', async () => {
    const name = projectName()
    const tried = await create('maker', { name }, {}, `${inWorkspace(blue)}?dryRun=All`)
    expect([tried.code, tried.headers.warning], tried.body).to.deep.equal([201, undefined])
    expect(await exists(name)).to.equal(false)
    for (const query of ['dryRun=Some', 'dryRun=All&dryRun=All', 'dryRun='])
      expect(await create('maker', { name }, {}, `${inWorkspace(blue)}?${query}`), query).to.include({
        code: 400,
      })
    const rejected = await create(
      'maker',
      { name, ...label('a', 'b') },
      {},
      `${inWorkspace(blue)}?dryRun=All`,
    )
    expect(rejected.code).to.equal(422)
    const { code } = await create('maker', { name }, {}, `${inWorkspace(blue)}?fieldManager=tool&pretty=true`)
    expect(code).to.equal(201)
    const managers = '{.metadata.managedFields[*].manager}'
    const get = ['get', 'namespace', name, '--show-managed-fields', '-o', `jsonpath=${managers}`]
    expect(await kubectlOutput(...get)).to.contain('tool')
  })

  it('the creator cannot change labels of the namespace, or delete it', async () => {
    const name = projectName()
    expect(await create('maker', { name })).to.include({ code: 201 })
    const path = `${inWorkspace(blue)}/${name}`
    const metadata = { name, ...label('pod-security.kubernetes.io/enforce', 'privileged') }
    for (const [method, at] of [
      ['PATCH', path],
      ['PUT', path],
      ['DELETE', path],
      ['PATCH', `/api/v1/namespaces/${name}`],
    ] as const) {
      const body = method === 'DELETE' ? undefined : { metadata }
      expect((await send(as('maker'), method, at, body)).code, `${method} ${at}`).to.equal(403)
    }
    const { labels } = Object(await kubectlJson('get', 'namespace', name)).metadata
    expect(Object.keys(labels)).to.have.members([`${groupDomain}/workspace`, 'kubernetes.io/metadata.name'])
  })

  it('impersonation decides whose permission counts, and who becomes the administrator', async () => {
    const name = projectName()
    const body = { metadata: { name } }
    const own = await send(as('maker'), 'POST', inWorkspace(blue), body, { 'impersonate-user': 'admin' })
    expect(own.code).to.equal(403)
    for (const user of ['system:anonymous', named('looker'), named('stranger')]) {
      const headers = { 'impersonate-user': user }
      const { code } = await send(admin, 'POST', inWorkspace(blue), body, headers)
      expect([403, 404], user).to.include(code)
    }
    const unauthenticated = {
      'impersonate-user': named('maker'),
      'impersonate-group': 'system:unauthenticated',
    }
    const { code } = await send(admin, 'POST', inWorkspace(blue), body, unauthenticated)
    expect(code).to.equal(403)
    expect(await exists(name)).to.equal(false)
    const created = await send(admin, 'POST', inWorkspace(blue), body, { 'impersonate-user': named('maker') })
    expect(created.code, created.body).to.equal(201)
    expect(await grantsIn(name)).to.include(`${named('maker')} admin`)
    expect(await grantsIn(name)).to.not.include('admin admin')
  })

  it('neither a read-only token nor a request without a token creates one', async () => {
    const name = projectName()
    const pat = { name: 'reader', expiresInSeconds: 3600, scope: 'read' }
    const issued = await send(as('maker'), 'POST', '/oauth/personal-access-tokens', pat)
    expect(issued.code, issued.body).to.equal(201)
    const body = { metadata: { name } }
    const { token } = JSON.parse(issued.body)
    expect(await send(token, 'POST', inWorkspace(blue), body)).to.include({ code: 403 })
    const headers = { 'content-type': 'application/json' }
    const anonymous = await askRaw(inWorkspace(blue), { method: 'POST', headers, body: JSON.stringify(body) })
    expect(anonymous.code).to.equal(401)
    expect(await exists(name)).to.equal(false)
  })

  it('a service account with a rule for the workspace creates one, and administers it', async () => {
    const of = { apiGroups: [tenant], resourceNames: [blue] }
    const token = await accounts.make('robot', [
      { ...of, resources: ['workspaces'], verbs: ['get'] },
      { ...of, resources: ['workspaces/namespaces'], verbs: ['create'] },
    ])
    const name = projectName()
    await eventually(async () => {
      const { code, body } = await send(token, 'POST', inWorkspace(blue), { metadata: { name } })
      expect(code, body).to.equal(201)
    }, withinMs)
    const robot = `system:serviceaccount:${accounts.namespace}:robot`
    expect(await grantsIn(name)).to.include(`${robot} admin`)
    expect(await mayCreate(robot, 'rolebindings', '-n', name)).to.equal('yes')
  })

  it('a record of an earlier release still counts, and gets the permission when its member is sent again', async () => {
    const role = `kapis:workspace:${blue}:edit`
    const earlier = {
      apiGroups: [tenant],
      resources: ['workspaces'],
      resourceNames: [blue],
      verbs: ['get', 'member:edit'],
    }
    await kubectlOutput(
      'patch',
      'clusterrole',
      role,
      '--type=merge',
      '-p',
      JSON.stringify({ rules: [earlier] }),
    )
    const name = projectName()
    await eventually(async () => {
      expect((await create('maker', { name })).code).to.equal(403)
      const members = await send(admin, 'GET', `${iam}/workspaces/${blue}/workspacemembers`)
      const found = JSON.parse(members.body).items.map(
        ({ metadata }: { metadata: { name: string } }) => metadata.name,
      )
      expect(found).to.include(named('maker'))
    }, withinMs)
    await invite('maker', blue, 'self-provisioner')
    await eventually(async () => expect(await create('maker', { name })).to.include({ code: 201 }), withinMs)
  })

  it('a self-provisioner who has created every project remains one in lists of members', async () => {
    const workspace = uniqueName('green')
    const body = { metadata: { name: workspace }, spec: { template: { spec: {} } } }
    expect(await send(admin, 'POST', workspaces, body)).to.include({ code: 201 })
    try {
      await invite('guest', workspace, 'self-provisioner')
      const name = projectName()
      await eventually(
        async () =>
          expect(await create('guest', { name }, {}, inWorkspace(workspace))).to.include({ code: 201 }),
        withinMs,
      )
      const own = `${iam}/workspaces/${workspace}/workspacemembers/${named('guest')}/workspaceroles`
      await eventually(async () => {
        const roles = JSON.parse((await send(as('guest'), 'GET', own)).body)
        expect(roles.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal([
          `${workspace}-self-provisioner`,
        ])
      }, withinMs)
      // Sent again, the member remains the administrator of the project.
      await invite('guest', workspace, 'self-provisioner')
      expect(await grantsIn(name)).to.deep.equal([`${named('guest')} admin`, `${named('guest')} edit`])
    } finally {
      await kubectl('delete', `workspaces.${tenant}`, workspace)
    }
  })

  it('a member who is removed from the workspace cannot create another one', async () => {
    const member = `${iam}/workspaces/${blue}/workspacemembers/${named('maker')}`
    expect((await send(admin, 'DELETE', member)).code).to.equal(200)
    const name = projectName()
    await eventually(async () => {
      const { code } = await create('maker', { name }, {}, `${inWorkspace(blue)}?dryRun=All`)
      // Not 403: the user no longer has a role in any of its projects either.
      expect(code).to.equal(404)
    }, withinMs)
    const permission = [`workspaces.${tenant}/${blue}`, '--subresource=namespaces']
    expect(await mayCreate(named('maker'), ...permission)).to.equal('no')
  })

  it('a deleted workspace has no new projects', async () => {
    await kubectlOutput('delete', `workspaces.${tenant}`, blue)
    const name = projectName()
    await eventually(async () => {
      const { code } = await create('boss', { name }, {}, `${inWorkspace(blue)}?dryRun=All`)
      expect(code).to.equal(404)
    }, withinMs)
    expect(await exists(name)).to.equal(false)
  })
})

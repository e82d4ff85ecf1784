import { expect } from 'chai'
import { type Answer, askKapis, askKube, kubectlJson, kubectlOutput, uniqueName } from './cluster.ts'
import { askAs, eventually } from './http.ts'
import { claimsOf, createUser, loginAs, patchUser, removeUser, type Tokens } from './oauth.ts'
import { setting } from './run.ts'

const path = '/oauth/personal-access-tokens'
const domain = setting('KAPIS_GROUP_DOMAIN')
const namespace = setting('KAPIS_NAMESPACE')
const withinMs = 2_000
const parsed = ({ code, body }: Answer) => [code, body === '' ? '' : JSON.parse(body)]

describe('personal access tokens', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('pat'), password: 'Correct horse 1' }
  let tokens: Tokens

  before(async () => {
    // The group of the first administrator: whatever is refused here is refused to the token.
    await createUser(user, { groups: ['platform-admins'] })
    tokens = await loginAs(user)
  })
  after(() => removeUser(user.username))

  const send = (method: string, at: string, body?: object, token = tokens.access_token) =>
    askAs(token, at, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  async function create(body: object) {
    const answer = await send('POST', path, body)
    expect(answer.code, answer.body).to.equal(201)
    return JSON.parse(answer.body)
  }

  it('are made, listed and ended, and are good for every API of the front', async () => {
    const { token, ...rest } = await create({ name: 'ci', expiresInSeconds: 3600 })
    expect(rest).to.have.all.keys('id', 'name', 'scope', 'createdAt', 'expiresAt')
    expect(rest).to.include({ name: 'ci', scope: 'full' })
    expect(parsed(await send('GET', path))).to.deep.equal([200, { items: [rest] }])
    for (const at of [
      `/kapis/resources.${domain}/v1alpha3/nodes`,
      `/apis/resources.${domain}/v1alpha3/nodes`,
      '/api/v1/nodes',
    ])
      expect(await askAs(token, at), at).to.include({ code: 200 })
    const dry = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
    expect(await send('POST', dry, map, token)).to.include({ code: 201 })
    // By itself kube-apiserver would not learn that the token was ended.
    expect(await askKube(token, '/api/v1/nodes')).to.include({ code: 401 })
    expect(parsed(await send('DELETE', `${path}/${rest.id}`))).to.deep.equal([204, ''])
    await eventually(
      async () => void expect(await askAs(token, '/api/v1/nodes')).to.include({ code: 401 }),
      withinMs,
    )
    expect(parsed(await send('GET', path))).to.deep.equal([200, { items: [] }])
  })

  it('that may read do nothing else, whatever their owner may', async () => {
    const { token } = await create({ name: 'reader', scope: 'read' })
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
    for (const at of ['/api/v1/nodes', pods, `/kapis/resources.${domain}/v1alpha3/nodes`, '/version'])
      expect(await askAs(token, at), at).to.include({ code: 200 })
    const refused: readonly [string, string, object?][] = [
      ['POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, map],
      ['PUT', `/apis/iam.${domain}/v1alpha2/users/${user.username}`, {}],
      ['DELETE', `/apis/iam.${domain}/v1alpha2/users/${user.username}?dryRun=All`],
      ['GET', `${pods}/x/exec?command=sh`],
      ['GET', '/api/v1/nodes/x/proxy/'],
    ]
    for (const [method, at, body] of refused) {
      const answer = await send(method, at, body, token)
      expect(answer.code, `${method} ${at}`).to.equal(403)
      expect(JSON.parse(answer.body).message).to.match(/: the token may only read$/)
    }
    const as = await askAs(token, '/api/v1/nodes', { headers: { 'impersonate-user': 'admin' } })
    expect(as.code).to.equal(403)
    expect(await askKube(token, '/api/v1/nodes')).to.include({ code: 401 })
    expect(parsed(await send('POST', path, { name: 'another' }, token))).to.deep.equal([
      403,
      {
        error: 'access_denied',
        error_description: 'personal access tokens are made and ended by a login, not by another token',
      },
    ])
  })

  it('outlive logins, and end with their user', async () => {
    const { token, id } = await create({ name: 'long' })
    const other = await loginAs(user)
    await send('POST', '/oauth/logout?all=true', undefined, other.access_token)
    expect(await askAs(token, '/api/v1/nodes')).to.include({ code: 200 })
    expect(Object(await kubectlJson('get', 'loginsession', id)).spec).to.include({
      type: 'PersonalAccessToken',
      displayName: 'long',
      user: user.username,
    })
    const patch = (state: string) => patchUser(user.username, { status: { state } }, '--subresource=status')
    await patch('Disabled')
    await eventually(
      async () => void expect(await askAs(token, '/api/v1/nodes')).to.include({ code: 401 }),
      withinMs,
    )
    // It has ended: it does not come back with the user.
    await eventually(async () => {
      const { spec } = Object(await kubectlJson('get', 'loginsession', id))
      expect(spec.ended).to.equal('user disabled')
    }, withinMs)
    await patch('Active')
    tokens = await loginAs(user)
    expect(await askAs(token, '/api/v1/nodes')).to.include({ code: 401 })
  })

  it('are nothing for nobody', async () => {
    expect(parsed(await askKapis(path))).to.deep.equal([401, { error: 'login_required' }])
  })
})

describe('signing keys', function () {
  this.timeout(60_000)
  const admin = { username: setting('KAPIS_USER'), password: setting('KAPIS_PASSWORD') }
  const published = async () => JSON.parse((await askKapis('/oauth/keys')).body).keys

  it('are made anew when the annotation asks for it, and the old ones stay', async () => {
    const before = await published()
    const { access_token } = await loginAs(admin)
    const annotation = `config.${domain}/rotate-keys`
    await kubectlOutput('-n', namespace, 'annotate', 'secret', 'kapis-signing-keys', `${annotation}=`)
    await eventually(async () => {
      const keys = await published()
      expect(keys).to.have.length(before.length + 2)
      expect(keys).to.deep.include.members(before)
    }, 5_000)
    const secret = Object(await kubectlJson('-n', namespace, 'get', 'secret', 'kapis-signing-keys'))
    expect(secret.metadata.annotations ?? {}).to.not.have.property(annotation)
    // The new ones do not sign before everybody can know them.
    const next = await loginAs(admin)
    const kidOf = (jwt: string) =>
      JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString()).kid
    expect(kidOf(next.access_token)).to.equal(kidOf(access_token))
    expect(claimsOf(next.access_token).sub).to.equal(admin.username)
    expect(await askAs(access_token, '/api/v1/nodes')).to.include({ code: 200 })
  })
})

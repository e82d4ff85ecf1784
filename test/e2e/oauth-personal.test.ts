import { expect } from 'chai'
import { parse } from 'yaml'
import {
  type HttpResponse,
  kubectlJson,
  kubectlOutput,
  sendToKapis,
  sendToKube,
  uniqueName,
} from './cluster.ts'
import { eventually, sendAs } from './http.ts'
import { claimsOf, createUser, loginAs, patchUser, removeUser, type Tokens } from './oauth.ts'
import { setting } from './run.ts'

const path = '/oauth/personal-access-tokens'
const domain = setting('KAPIS_GROUP_DOMAIN')
const namespace = setting('KAPIS_NAMESPACE')
const withinMs = 2_000
const parsed = ({ code, body }: HttpResponse) => [code, body === '' ? '' : JSON.parse(body)]

describe('personal access tokens', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('pat'), password: 'Correct horse 1' }
  let tokens: Tokens

  before(async () => {
    // In the group of the first administrator, so that only the scope of the token can be the
    // reason for a rejection.
    await createUser(user, { groups: ['platform-admins'] })
    tokens = await loginAs(user)
  })
  after(() => removeUser(user.username))

  const send = (method: string, at: string, body?: object, token = tokens.access_token) =>
    sendAs(token, at, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  async function create(body: object) {
    const response = await send('POST', path, body)
    expect(response.code, response.body).to.equal(201)
    return JSON.parse(response.body)
  }

  it('can be created, listed and revoked, and are accepted by every API of kapis-apiserver', async () => {
    const { token, ...rest } = await create({ name: 'ci', expiresInSeconds: 3600 })
    expect(rest).to.have.all.keys('id', 'name', 'scope', 'createdAt', 'expiresAt')
    expect(rest).to.include({ name: 'ci', scope: 'full' })
    expect(parsed(await send('GET', path))).to.deep.equal([200, { items: [rest] }])
    for (const at of [
      `/kapis/resources.${domain}/v1alpha3/nodes`,
      `/apis/resources.${domain}/v1alpha3/nodes`,
      '/api/v1/nodes',
    ])
      expect(await sendAs(token, at), at).to.include({ code: 200 })
    const dry = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
    expect(await send('POST', dry, map, token)).to.include({ code: 201 })
    // kube-apiserver rejects the token too, although it verifies tokens without a request to Kapis.
    expect(await sendToKube(token, '/api/v1/nodes')).to.include({ code: 401 })
    expect(parsed(await send('DELETE', `${path}/${rest.id}`))).to.deep.equal([204, ''])
    await eventually(
      async () => void expect(await sendAs(token, '/api/v1/nodes')).to.include({ code: 401 }),
      withinMs,
    )
    expect(parsed(await send('GET', path))).to.deep.equal([200, { items: [] }])
  })

  it('with the scope read can do nothing else, whatever permissions their owner has', async () => {
    const { token } = await create({ name: 'reader', scope: 'read' })
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
    for (const at of ['/api/v1/nodes', pods, `/kapis/resources.${domain}/v1alpha3/nodes`, '/version'])
      expect(await sendAs(token, at), at).to.include({ code: 200 })
    const refused: readonly [string, string, object?][] = [
      ['POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, map],
      ['PUT', `/apis/iam.${domain}/v1alpha2/users/${user.username}`, {}],
      ['DELETE', `/apis/iam.${domain}/v1alpha2/users/${user.username}?dryRun=All`],
      ['GET', `${pods}/x/exec?command=sh`],
      ['GET', '/api/v1/nodes/x/proxy/'],
      ['POST', `/api/v1/watch/namespaces/${namespace}/configmaps?dryRun=All`, map],
      ['POST', `/kapi/v1/watch/namespaces/${namespace}/configmaps?watch=true&dryRun=All`, map],
      ['DELETE', `/kapis/resources.${domain}/v1alpha3/watch/nodes/x`],
      ['POST', `/kapis/resources.${domain}/v1alpha3/watch/namespaces/a/registrysecrets/x/verify`, {}],
      ['POST', `/kapis/resources.${domain}/v1alpha3/proxy/namespaces/a/registrysecrets/x/verify`, {}],
    ]
    for (const [method, at, body] of refused) {
      const response = await send(method, at, body, token)
      expect(response.code, `${method} ${at}`).to.equal(403)
      expect(JSON.parse(response.body).message).to.match(/: a read-only token cannot change anything$/)
    }
    const as = await sendAs(token, '/api/v1/nodes', { headers: { 'impersonate-user': 'admin' } })
    expect(as.code).to.equal(403)
    expect(await sendToKube(token, '/api/v1/nodes')).to.include({ code: 401 })
    expect(parsed(await send('POST', path, { name: 'another' }, token))).to.deep.equal([
      403,
      {
        error: 'access_denied',
        error_description: 'personal access tokens can only be created and deleted with the token of a login',
      },
    ])
  })

  it('are valid beyond the session, and end with their user', async () => {
    const { token, id } = await create({ name: 'long' })
    const other = await loginAs(user)
    await send('POST', '/oauth/logout?all=true', undefined, other.access_token)
    expect(await sendAs(token, '/api/v1/nodes')).to.include({ code: 200 })
    expect(Object(await kubectlJson('get', 'loginsession', id)).spec).to.include({
      type: 'PersonalAccessToken',
      displayName: 'long',
      user: user.username,
    })
    const patch = (state: string) => patchUser(user.username, { status: { state } }, '--subresource=status')
    await patch('Disabled')
    await eventually(
      async () => void expect(await sendAs(token, '/api/v1/nodes')).to.include({ code: 401 }),
      withinMs,
    )
    // A token of a deleted user remains ended when a user with the same name is created.
    await eventually(async () => {
      const { spec } = Object(await kubectlJson('get', 'loginsession', id))
      expect(spec.ended).to.equal('user disabled')
    }, withinMs)
    await patch('Active')
    tokens = await loginAs(user)
    expect(await sendAs(token, '/api/v1/nodes')).to.include({ code: 401 })
  })

  it('with the scope read cannot read Secrets, in any representation or path', async () => {
    const { token } = await create({ name: 'no-secrets', scope: 'read' })
    const { token: full } = await create({ name: 'secrets' })
    const resources = `resources.${domain}/v1alpha3`
    const inNamespace = `namespaces/${namespace}/secrets`
    const paths = [
      '/api/v1/secrets',
      `/api/v1/${inNamespace}`,
      `/api/v1/${inNamespace}/kapis-signing-keys`,
      `/api/v1/${inNamespace}/kapis-initial-admin`,
      `/api/v1/${inNamespace}?fieldSelector=metadata.name%3Dkapis-signing-keys`,
      `/kapi/v1/${inNamespace}`,
      `/kapi/v1/${inNamespace}/kapis-signing-keys`,
      `/kapis/${resources}/secrets`,
      `/kapis/${resources}/${inNamespace}`,
      `/kapis/${resources}/${inNamespace}/kapis-signing-keys`,
    ]
    const partial = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
    const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'
    for (const at of paths) {
      for (const accept of ['application/json', partial, table, 'application/yaml']) {
        const response = await sendAs(token, at, { headers: { accept } })
        expect(response.code, `${at} ${accept}`).to.equal(403)
        // The error has the requested media type.
        const { message } = parse(response.body)
        expect(message).to.match(/: a read-only token cannot read Secrets$/)
      }
      // The user has the permission, but the read-only token does not.
      expect(await sendAs(full, at), at).to.include({ code: 200 })
      const watch = await sendAs(token, `${at}${at.includes('?') ? '&' : '?'}watch=true&timeoutSeconds=1`)
      expect(watch.code, at).to.equal(403)
    }
    const image = `/kapis/${resources}/namespaces/${namespace}/imageconfig?image=nginx&secret=kapis-signing-keys`
    expect(await sendAs(token, image)).to.include({ code: 403 })
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/kapis/token`
    expect(await send('POST', account, {}, token)).to.include({ code: 403 })
  })

  it('revoke themselves at /oauth/logout, and nothing else', async () => {
    const { token } = await create({ name: 'leaked', scope: 'read' })
    const all = {
      error: 'access_denied',
      error_description: 'all=true requires the access token of the login',
    }
    expect(parsed(await send('POST', '/oauth/logout?all=true', undefined, token))).to.deep.equal([403, all])
    expect(parsed(await send('GET', '/oauth/logout?all=true', undefined, token))).to.deep.equal([403, all])
    expect(await send('GET', path)).to.include({ code: 200 })
    expect(await send('POST', '/oauth/logout', undefined, token)).to.include({ code: 200 })
    await eventually(
      async () => void expect(await sendAs(token, '/api/v1/nodes')).to.include({ code: 401 }),
      withinMs,
    )
    expect(await send('GET', path)).to.include({ code: 200 })
  })

  it('cannot be created with a password that an administrator set, and end when the password changes', async () => {
    const name = uniqueName('given')
    const users = `/kapis/iam.${domain}/v1alpha2/users`
    const own = { username: name, password: 'Correct horse 1' }
    const annotations = { [`iam.${domain}/uninitialized`]: 'true' }
    const spec = { email: `${name}@e2e.test`, password: own.password }
    expect(await send('POST', users, { metadata: { name, annotations }, spec })).to.include({ code: 201 })
    try {
      const given = (await loginAs(own)).access_token
      const year = { name: 'survivor', expiresInSeconds: 31_536_000 }
      expect(parsed(await send('POST', path, year, given))).to.deep.equal([
        403,
        {
          error: 'access_denied',
          error_description: 'the password of this user was set by an administrator: change it first',
        },
      ])
      const next = 'Another horse 2'
      const change = { currentPassword: own.password, password: next }
      expect(await send('PUT', `${users}/${name}/password`, change, given)).to.include({ code: 200 })
      const chosen = (await loginAs({ username: name, password: next })).access_token
      const made = await send('POST', path, year, chosen)
      expect(made.code, made.body).to.equal(201)
      const { token, id } = JSON.parse(made.body)
      const at = `${users}/${name}`
      expect(await sendAs(token, at)).to.include({ code: 200 })
      expect(await send('PUT', `${at}/password`, { password: 'A third horse 3' })).to.include({ code: 200 })
      for (const each of [token, chosen])
        await eventually(async () => void expect(await sendAs(each, at)).to.include({ code: 401 }), withinMs)
      await eventually(async () => {
        const { spec: session } = Object(await kubectlJson('get', 'loginsession', id))
        expect(session.ended).to.equal('password changed')
      }, withinMs)
    } finally {
      await removeUser(name)
    }
  })

  it('cannot be managed without a token', async () => {
    expect(parsed(await sendToKapis(path))).to.deep.equal([401, { error: 'login_required' }])
  })
})

describe('signing keys', function () {
  this.timeout(60_000)
  const admin = { username: setting('KAPIS_USER'), password: setting('KAPIS_PASSWORD') }
  const published = async () => JSON.parse((await sendToKapis('/oauth/keys')).body).keys

  it('are recreated when the annotation requests it, and the old ones stay published', async () => {
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
    // New keys are not used for signing before all clients can have loaded them.
    const next = await loginAs(admin)
    const kidOf = (jwt: string) =>
      JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString()).kid
    expect(kidOf(next.access_token)).to.equal(kidOf(access_token))
    expect(claimsOf(next.access_token).sub).to.equal(admin.username)
    expect(await sendAs(access_token, '/api/v1/nodes')).to.include({ code: 200 })
  })
})

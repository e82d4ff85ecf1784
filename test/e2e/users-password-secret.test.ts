import { expect } from 'chai'
import { createPasswordHasher } from '../../pkg/iam/passwords/password.ts'
import { type Accounts, createAccounts } from './account.ts'
import { accessToken, kubectl, kubectlJson, kubectlOutput, sendToKube, uniqueName } from './cluster.ts'
import { eventually, groupDomain, logIn, sendAs } from './http.ts'
import { createUser, iamVersion, loginAs, removeUser } from './oauth.ts'
import { output, setting } from './run.ts'

const group = `iam.${groupDomain}`
const users = `users.${group}`
const native = `/apis/${group}/v1alpha2/users`
const platform = `/kapis/${group}/v1alpha2/users`
const namespace = setting('KAPIS_NAMESPACE')
const hash = /\$2[aby]\$\d\d\$/
const password = 'Correct horse 1'

/**
 * Read access to users does not expose bcrypt hashes: each is in a Secret in the namespace of
 * Kapis.
 */
describe('password hashes', function () {
  this.timeout(60_000)
  let accounts: Accounts
  let admin: string
  let reader: string
  const made: string[] = []

  before(async () => {
    admin = await accessToken()
    accounts = await createAccounts('hashes')
    const verbs = ['get', 'list', 'watch']
    reader = await accounts.make('reader', [{ apiGroups: [group], resources: ['*'], verbs }])
  })
  after(async () => {
    for (const name of made) await removeUser(name)
    await accounts.remove()
  })

  const secretOf = (name: string) => `kapis-user-${name}`
  async function newUser(spec: object = { password }): Promise<string> {
    const name = uniqueName(`hashed${made.length}`)
    made.push(name)
    const body = JSON.stringify({ metadata: { name }, spec: { email: `${name}@e2e.test`, ...spec } })
    const response = await sendAs(admin, platform, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(response.code, response.body).to.equal(201)
    return name
  }
  async function expectNone(name: string): Promise<void> {
    const watch = `?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3D${name}`
    for (const path of [
      `${native}/${name}`,
      native,
      native + watch,
      `/apis/${group}/v1alpha2/loginsessions`,
    ]) {
      const { code, body } = await sendToKube(reader, path)
      expect(code, body).to.equal(200)
      expect(body, path).to.not.match(hash)
    }
    for (const path of [`${platform}/${name}`, platform, `/kapis/resources.${groupDomain}/v1alpha3/users`]) {
      const { body } = await sendAs(reader, path)
      expect(body, path).to.not.match(hash).and.not.include('"credential')
    }
  }

  it('are in no User, including the first administrator’s', async () => {
    const name = await newUser()
    await expectNone(name)
    await eventually(() => expectNone(setting('KAPIS_USER')), 10_000)
    const { spec } = Object(await kubectlJson('get', users, name))
    expect(spec).to.have.all.keys('email', 'credential', 'credentialNamespace')
    const secret = Object(await kubectlJson('-n', namespace, 'get', 'secret', secretOf(name)))
    expect(secret.type).to.equal(`${group}/password`)
    expect(Object.keys(secret.data)).to.deep.equal([spec.credential])
    expect((await logIn(name, password)).code).to.equal(200)
  })

  it('stay out of the User when the password changes in any way', async () => {
    const name = await newUser()
    const token = (await loginAs({ username: name, password })).access_token
    const put = (path: string, body: object, as = admin, type = 'application/json', method = 'PUT') =>
      sendAs(as, `${platform}/${name}${path}`, {
        method,
        headers: { 'content-type': type },
        body: JSON.stringify(body),
      })
    const email = `${name}@e2e.test`
    const merge = 'application/merge-patch+json'
    const ways = [
      (next: string, last: string) => put('/password', { currentPassword: last, password: next }, token),
      (next: string) => put('/password', { password: next }),
      (next: string) => put('', { spec: { email, password: next } }),
      (next: string) => put('', { spec: { password: next } }, admin, merge, 'PATCH'),
    ]
    let last = password
    for (const [i, way] of ways.entries()) {
      const next = `Another horse ${i}`
      const { code, body } = await way(next, last)
      expect(code, body).to.equal(200)
      await eventually(async () => expect((await logIn(name, next)).code).to.equal(200), 3_000)
      expect((await logIn(name, last)).code).to.equal(400)
      await expectNone(name)
      last = next
    }
    expect((await sendAs(token, `${platform}/${name}`)).code).to.equal(401)
    // Changes of other fields keep the password.
    expect((await put('', { spec: { email, lang: 'de' } })).code).to.equal(200)
    expect((await logIn(name, last)).code).to.equal(200)
  })

  it('are removed from a User that kubectl applies, and logins still work', async () => {
    const name = uniqueName('applied')
    made.push(name)
    await createUser({ username: name, password })
    const { access_token: token } = await loginAs({ username: name, password })
    await eventually(async () => {
      const { metadata, spec } = Object(await kubectlJson('get', users, name))
      expect(spec).to.have.all.keys('email', 'credential', 'credentialNamespace')
      expect(JSON.stringify(metadata)).to.not.match(hash)
    }, 10_000)
    await expectNone(name)
    expect((await sendAs(token, `${platform}/${name}`)).code).to.equal(200)
    expect((await logIn(name, password)).code).to.equal(200)
    // Applying the same manifest again keeps the password; a manifest with another hash changes it.
    await createUser({ username: name, password: 'Another horse 2' })
    await eventually(async () => expect((await logIn(name, 'Another horse 2')).code).to.equal(200), 3_000)
    expect((await logIn(name, password)).code).to.equal(400)
    await eventually(
      async () => expect((await sendAs(token, `${platform}/${name}`)).code).to.equal(401),
      2_000,
    )
    await eventually(() => expectNone(name), 10_000)
    // The annotation of `kubectl apply` must not expose the hash either.
    const spec = { email: `${name}@e2e.test`, password: await (await createPasswordHasher()).hash(password) }
    const applied = { apiVersion: iamVersion, kind: 'User', metadata: { name }, spec }
    await output('kubectl', ['apply', 'set-last-applied', '-f', '-'], { stdin: JSON.stringify(applied) })
    await eventually(() => expectNone(name), 10_000)
    expect((await logIn(name, 'Another horse 2')).code).to.equal(200)
  })

  it('are deleted with their user, and not passed to a later one with the same name', async () => {
    const name = await newUser()
    expect((await logIn(name, password)).code).to.equal(200)
    await kubectlOutput('delete', users, name)
    const spec = { email: `${name}@e2e.test` }
    const object = { apiVersion: iamVersion, kind: 'User', metadata: { name }, spec }
    await output('kubectl', ['create', '-f', '-'], { stdin: JSON.stringify(object) })
    await new Promise(resolve => setTimeout(resolve, 500))
    expect((await logIn(name, password)).code).to.equal(400)
    await eventually(async () => {
      const { stderr } = await kubectl('-n', namespace, 'get', 'secret', secretOf(name))
      expect(stderr).to.include('not found')
    }, 30_000)
  })

  it('are restored with a backup, under another UID', async () => {
    const name = await newUser()
    const save = async (...args: readonly string[]) => {
      const { metadata, ...rest } = Object(await kubectlJson(...args))
      return {
        ...rest,
        metadata: { name: metadata.name, namespace: metadata.namespace, labels: metadata.labels },
      }
    }
    const saved = [
      await save('get', users, name),
      await save('-n', namespace, 'get', 'secret', secretOf(name)),
    ]
    await kubectlOutput('delete', users, name)
    await eventually(async () => {
      expect((await kubectl('-n', namespace, 'get', 'secret', secretOf(name))).code).to.equal(1)
    }, 30_000)
    for (const object of saved)
      await output('kubectl', ['create', '-f', '-'], { stdin: JSON.stringify(object) })
    await eventually(async () => expect((await logIn(name, password)).code).to.equal(200), 3_000)
  })

  it('that are sent instead of a password are stored in the same way', async () => {
    const given = await (await createPasswordHasher()).hash(password)
    const name = await newUser({ password: given })
    await expectNone(name)
    expect((await logIn(name, password)).code).to.equal(200)
  })

  it('are consistent on every replica after concurrent changes', async () => {
    const name = await newUser()
    const candidates = Array.from({ length: 6 }, (_, i) => `Raced horse ${i}`)
    const set = (next: string) =>
      sendAs(admin, `${platform}/${name}/password`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ password: next }),
      })
    const codes = (await Promise.all(candidates.map(set))).map(({ code }) => code)
    expect(codes).to.include(200)
    await eventually(async () => {
      const logins: number[] = []
      for (const next of candidates) logins.push((await logIn(name, next)).code)
      expect(logins.filter(code => code === 200)).to.have.length(1)
    }, 20_000)
    await expectNone(name)
  })

  it('that are lost leave a user without a password, until another is set', async () => {
    const name = await newUser()
    await kubectlOutput('-n', namespace, 'delete', 'secret', secretOf(name))
    await eventually(async () => expect((await logIn(name, password)).code).to.equal(400), 5_000)
    const body = JSON.stringify({ password: 'Another horse 3' })
    const headers = { 'content-type': 'application/json' }
    const { code } = await sendAs(admin, `${platform}/${name}/password`, { method: 'PUT', headers, body })
    expect(code).to.equal(200)
    await eventually(async () => expect((await logIn(name, 'Another horse 3')).code).to.equal(200), 5_000)
  })
})

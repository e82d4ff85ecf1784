import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  accessToken,
  type HttpResponse,
  kubectl,
  kubectlJson,
  kubectlOutput,
  sendToKapis,
  uniqueName,
} from './cluster.ts'
import {
  endsWithinSeconds,
  eventually,
  expectStatus,
  groupDomain,
  logIn,
  sendAs,
  statusBody,
} from './http.ts'
import { loginAs } from './oauth.ts'
import { setting } from './run.ts'

const base = `/kapis/iam.${groupDomain}/v1alpha2/users`
const json = { 'content-type': 'application/json' }
const password = 'Correct horse 1'

type UserObject = {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly resourceVersion: string
    readonly selfLink?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

describe('users', function () {
  this.timeout(30_000)
  const made: string[] = []
  let admin: string

  const send = (
    token: string,
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = json,
  ) => sendAs(token, path, { method, headers, body: JSON.stringify(body) })
  const parse = (response: HttpResponse, code = 200): UserObject => {
    expect(response.code, response.body).to.equal(code)
    return JSON.parse(response.body)
  }
  async function newUser(changes: object = {}): Promise<string> {
    const name = uniqueName(`user-${made.length}`)
    made.push(name)
    const spec = { email: `${name}@e2e.test`, password, ...changes }
    parse(await send(admin, 'POST', base, { metadata: { name }, spec }), 201)
    return name
  }
  const tokenOf = async (username: string, secret = password) =>
    (await loginAs({ username, password: secret })).access_token

  before(async () => {
    admin = await accessToken()
  })
  after(async () => {
    for (const name of made) await kubectl('delete', `users.iam.${groupDomain}`, name, '--ignore-not-found')
  })

  it('are written with a log line that names the caller and the impersonated user', async () => {
    const deputy = await newUser()
    const binding = uniqueName('deputy')
    await kubectlOutput(
      ...[
        'create',
        'clusterrolebinding',
        binding,
        '--clusterrole=kapis:user-administrator',
        `--user=${deputy}`,
      ],
    )
    try {
      const name = uniqueName('audited')
      made.push(name)
      const body = { metadata: { name }, spec: { email: `${name}@e2e.test` } }
      await eventually(async () => {
        parse(await send(admin, 'POST', base, body, { ...json, 'impersonate-user': deputy }), 201)
      }, 10_000)
      parse(await send(admin, 'PUT', `${base}/${name}`, body))
      const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'apiserver.log'), 'utf8')
      const lines = log
        .split('\n')
        .filter(line => line.includes('"audit":"user"') && line.includes(name))
        .map(line => JSON.parse(line))
        .map(({ action, by, impersonatedUser }) => ({ action, by, impersonatedUser }))
      expect(lines).to.deep.equal([
        { action: 'create', by: setting('KAPIS_USER'), impersonatedUser: deputy },
        { action: 'update', by: setting('KAPIS_USER'), impersonatedUser: undefined },
      ])
    } finally {
      await kubectl('delete', 'clusterrolebinding', binding)
    }
  })

  it('are created with a password that is hashed, and read and listed without it', async () => {
    const group = uniqueName('group')
    const name = await newUser({ displayName: 'E2E', groups: [group] })
    const user = parse(await sendAs(admin, `${base}/${name}`))
    const { metadata, ...rest } = user
    expect(rest).to.deep.include({
      kind: 'User',
      apiVersion: `iam.${groupDomain}/v1alpha2`,
      spec: { email: `${name}@e2e.test`, displayName: 'E2E', groups: [group] },
    })
    expect(rest.status).to.include({ state: 'Active' })
    expect(metadata).to.include({ name, selfLink: `/apis/iam.${groupDomain}/v1alpha2/users/${name}` })
    expect(metadata.annotations).to.have.property(`iam.${groupDomain}/last-password-change-time`)
    const stored = Object(await kubectlJson('get', `users.iam.${groupDomain}`, name))
    expect(stored.spec).to.have.all.keys(
      'email',
      'displayName',
      'groups',
      'credential',
      'credentialNamespace',
    )
    await eventually(async () => {
      const listed = JSON.parse((await sendAs(admin, `${base}?ingroup=${group}`)).body)
      expect(listed).to.have.property('totalItems', 1)
      expect(listed.items[0]).to.deep.equal(user)
    }, 3_000)
    expect((await logIn(name, password)).code).to.equal(200)
  })

  it('that kubectl has applied are returned without the last-applied annotation', async () => {
    const name = await newUser({ groups: [uniqueName('applied')] })
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
    const users = `users.iam.${groupDomain}`
    const { spec } = Object(await kubectlJson('get', users, name))
    const applied = JSON.stringify({ spec })
    await kubectlOutput('annotate', users, name, `${annotation}=${applied}`)
    const { metadata } = parse(await sendAs(admin, `${base}/${name}`))
    expect(metadata.annotations).to.not.have.property(annotation)
    await eventually(async () => {
      const [listed] = JSON.parse((await sendAs(admin, `${base}?ingroup=${spec.groups[0]}`)).body).items
      expect(listed.metadata).to.deep.equal(metadata)
    }, 20_000)
    const changes = { spec: { lang: 'de' } }
    const type = { 'content-type': 'application/merge-patch+json' }
    const changed = parse(await send(admin, 'PATCH', `${base}/${name}`, changes, type))
    expect(changed.metadata.annotations).to.not.have.property(annotation)
    const kept = Object(await kubectlJson('get', users, name))
    expect(kept.metadata.annotations).to.have.property(annotation, applied)
  })

  it('are listed with pages, sorting and filters', async () => {
    const group = uniqueName('group')
    const names = [await newUser({ groups: [group] }), await newUser({ groups: [group, 'x'] })].sort()
    const list = async (query: string) => {
      const { items, totalItems } = JSON.parse((await sendAs(admin, `${base}?${query}`)).body)
      return [items.map(({ metadata }: UserObject) => metadata.name), totalItems]
    }
    await eventually(async () => {
      expect(await list(`ingroup=${group}&sortBy=name&ascending=true`)).to.deep.equal([names, 2])
    }, 3_000)
    expect(await list(`ingroup=${group}&sortBy=name&limit=1&page=2`)).to.deep.equal([[names[0]], 2])
    expect(await list(`ingroup=${group}&notingroup=x`)).to.have.nested.property('[1]', 1)
    expect(await list(`email=${names[0]}@e2e.test`)).to.deep.equal([[names[0]], 1])
    expect(await list(`ingroup=${group}&status=active`)).to.have.nested.property('[1]', 2)
    expect(await list(`names=${names.join(',')}&status=disabled`)).to.deep.equal([[], 0])
    const warned = await sendAs(admin, `${base}?ingroup=${group}&page=0`)
    expect([warned.code, warned.headers.warning]).to.deep.equal([
      200,
      '299 - "invalid page \\"0\\": expected a whole number of at least 1; using 1"',
    ])
  })

  it('are never returned with a password hash, at any path', async () => {
    const name = await newUser()
    const path = `${base}/${name}`
    const patch = { 'content-type': 'application/merge-patch+json' }
    const responses = [
      await sendAs(admin, path),
      await sendAs(admin, `${path}?managedFields=true`),
      await sendAs(admin, base),
      await sendAs(admin, `/kapis/resources.${groupDomain}/v1alpha3/users`),
      await sendAs(admin, `/kapi/iam.${groupDomain}/v1alpha2/users/${name}`),
      await send(admin, 'PATCH', path, { spec: { lang: 'en' } }, patch),
      await send(admin, 'PUT', `${path}/status`, { status: { state: 'Disabled' } }),
      await send(admin, 'PUT', path, { spec: { email: `${name}@e2e.test` } }),
      await sendAs(admin, path, { method: 'DELETE' }),
    ]
    for (const { code, body } of responses) {
      expect(code, body).to.equal(200)
      expect(body).to.not.include('$2b$')
    }
  })

  it('are replaced at the version that was read, and keep their password', async () => {
    const name = await newUser()
    const path = `${base}/${name}`
    const before = parse(await sendAs(admin, path))
    const changed = { ...before, spec: { ...before.spec, displayName: 'Other' } }
    expect(parse(await send(admin, 'PUT', path, changed)).spec).to.include({ displayName: 'Other' })
    const conflict = await send(admin, 'PUT', path, changed)
    expect(conflict.code).to.equal(409)
    expect(JSON.parse(conflict.body)).to.include({ reason: 'Conflict', status: 'Failure' })
    expect((await logIn(name, password)).code).to.equal(200)
  })

  it('are disabled, which ends their sessions, and enabled again', async () => {
    const name = await newUser()
    const token = await tokenOf(name)
    const self = `${base}/${name}`
    expect((await sendAs(token, self)).code).to.equal(200)
    parse(await send(admin, 'PUT', `${self}/status`, { status: { state: 'Disabled' } }))
    const seconds = await eventually(async () => expectCode(await sendAs(token, self), 401), 20_000, 20)
    expect(seconds).to.be.below(endsWithinSeconds)
    expect(JSON.parse((await logIn(name, password)).body)).to.deep.equal({
      error: 'invalid_grant',
      error_description: 'account is not active',
    })
    parse(
      await send(admin, 'PUT', self, { spec: { email: `${name}@e2e.test` }, status: { state: 'Active' } }),
    )
    await eventually(async () => expectCode(await logIn(name, password), 200), 3_000)
    // The login from before the change remains ended.
    expectCode(await sendAs(token, self), 401)
  })

  it('are unlocked by an administrator', async () => {
    const name = await newUser()
    for (let i = 0; i < 10; i++) await logIn(name, `wrong ${i}`)
    expect((await logIn(name, password)).code).to.equal(429)
    await eventually(async () => {
      expect(parse(await sendAs(admin, `${base}/${name}`)).status).to.include({ state: 'AuthLimitExceeded' })
    }, 3_000)
    parse(await send(admin, 'PUT', `${base}/${name}/status`, { status: { state: 'Active' } }))
    await eventually(async () => expectCode(await logIn(name, password), 200), 3_000)
    // Repeated, since records are written after the responses.
    await eventually(async () => {
      const records = JSON.parse((await sendAs(admin, `${base}/${name}/loginrecords`)).body)
      expect(records.totalItems).to.equal(11)
      // All records may have the same time in seconds, so their order is undefined.
      const specs = records.items.map(({ spec }: UserObject) => spec)
      const [good, ...more] = specs.filter(({ success }: UserObject['spec']) => success === true)
      expect(more).to.deep.equal([])
      expect(good).to.include({ type: 'Password', sourceIP: '127.0.0.1' })
      const failures = specs.filter(({ success }: UserObject['spec']) => success !== true)
      expect(failures).to.have.length(10)
      for (const { reason } of failures) expect(reason).to.equal('incorrect password')
    }, 5_000)
  })

  it('receive through a binding a platform role that their creator may grant', async () => {
    const annotation = `iam.${groupDomain}/globalrole`
    const name = uniqueName('role')
    made.push(name)
    const spec = { email: `${name}@e2e.test`, password }
    const body = { metadata: { name, annotations: { [annotation]: 'platform-admin' } }, spec }
    const roleOf = ({ metadata }: UserObject) => metadata.annotations?.[annotation]
    const shown = (path: string) => sendAs(admin, path).then(response => JSON.parse(response.body))
    expect(roleOf(parse(await send(admin, 'POST', base, body), 201))).to.equal('platform-admin')
    const user = parse(await sendAs(admin, `${base}/${name}`))
    expect(roleOf(user)).to.equal('platform-admin')
    const found = await shown(`${base}?globalrole=platform-admin&name=${name}`)
    expect(found.items.map(roleOf)).to.deep.equal(['platform-admin'])
    // The console sends back the whole user when it is edited.
    const next = {
      ...user,
      metadata: { ...user.metadata, annotations: { [annotation]: 'platform-regular' } },
    }
    expect(roleOf(parse(await send(admin, 'PUT', `${base}/${name}`, next)))).to.equal('platform-regular')
    expect((await shown(`${base}?globalrole=platform-admin&name=${name}`)).items).to.deep.equal([])
    const { metadata } = parse(await sendAs(await tokenOf(name), `${base}/${name}`))
    expect(metadata.annotations?.[annotation]).to.equal('platform-regular')
  })

  describe('without permissions', () => {
    it('may read themselves, but no others', async () => {
      const name = await newUser()
      const token = await tokenOf(name)
      expect(parse(await sendAs(token, `${base}/${name}`)).metadata.name).to.equal(name)
      for (const path of [base, `${base}/admin`, `${base}/${name}/loginrecords`])
        expectCode(await sendAs(token, path), 403)
      const message =
        `users.iam.${groupDomain} "admin" is forbidden: User "${name}" cannot get resource "users" ` +
        `in API group "iam.${groupDomain}" at the cluster scope`
      expect(JSON.parse((await sendAs(token, `${base}/admin`)).body)).to.include({
        reason: 'Forbidden',
        message,
      })
    })

    it('may not write themselves with any verb', async () => {
      const name = await newUser()
      const token = await tokenOf(name)
      const body = { spec: { email: `${name}@e2e.test`, groups: ['platform-admins'] } }
      for (const path of [`${base}/${name}`, `${base}/${name}/status`])
        expectCode(await send(token, 'PUT', path, body), 403)
      expectCode(await send(token, 'POST', base, { metadata: { name: `${name}-2` }, ...body }), 403)
      for (const prefix of ['watch', 'proxy']) {
        const path = base.replace('/users', `/${prefix}/users/${name}`)
        expectCode(await send(token, 'PUT', path, body), 403)
        expectCode(await send(admin, 'PUT', path, body), 400)
      }
    })

    it('may change their own password with the current one, which ends their sessions', async () => {
      const name = await newUser()
      const path = `${base}/${name}/password`
      await kubectlOutput(
        'annotate',
        `users.iam.${groupDomain}`,
        name,
        `iam.${groupDomain}/uninitialized=true`,
      )
      const token = await tokenOf(name)
      const next = 'Another horse 2'
      expectStatus(
        await send(token, 'PUT', path, { password: next }),
        statusBody(400, 'BadRequest', 'currentPassword is required to change your own password'),
      )
      expectStatus(
        await send(token, 'PUT', path, { currentPassword: 'wrong', password: next }),
        statusBody(400, 'BadRequest', 'currentPassword is not the password of the user'),
      )
      const weak = await send(token, 'PUT', path, { currentPassword: password, password: 'weak' })
      expect([weak.code, weak.body.includes('weak"')]).to.deep.equal([422, false])
      const changed = await send(token, 'PUT', path, { currentPassword: password, password: next })
      expect([changed.code, JSON.parse(changed.body)]).to.deep.equal([200, { message: 'success' }])
      await eventually(async () => expectCode(await sendAs(token, `${base}/${name}`), 401), 2_000)
      await eventually(async () => expectCode(await logIn(name, next), 200), 3_000)
      expectCode(await logIn(name, password), 400)
      const { metadata } = parse(await sendAs(admin, `${base}/${name}`))
      expect(metadata.annotations).to.not.have.property(`iam.${groupDomain}/uninitialized`)
      expectCode(await send(await tokenOf(name, next), 'PUT', `${base}/admin/password`, { password }), 403)
    })

    it("may change their own e-mail address and language, and set a first password, as KubeSphere's console does", async () => {
      const name = await newUser()
      const mark = `iam.${groupDomain}/uninitialized`
      await kubectlOutput('annotate', `users.iam.${groupDomain}`, name, `${mark}=true`)
      const token = await tokenOf(name)
      const email = `own-${name}@e2e.test`
      // Repeated after a conflict, while the watch has not delivered the latest version.
      await eventually(async () => {
        const { status: _, metadata, ...user } = parse(await sendAs(token, `${base}/${name}`))
        const body = { ...user, metadata, spec: { ...user.spec, email, lang: 'de' } }
        const changed = await send(token, 'PUT', `${base}/${name}`, body)
        expectCode(changed, 200)
        expect(JSON.parse(changed.body).spec).to.deep.equal(body.spec)
      }, 3_000)
      const native = `/apis/iam.${groupDomain}/v1alpha2/users/${name}`
      const patch = (...operations: readonly object[]) =>
        send(token, 'PATCH', native, operations, { 'content-type': 'application/json-patch+json' })
      const next = 'Another horse 2'
      const remove = { op: 'remove', path: `/metadata/annotations/${mark.replace('/', '~1')}` }
      expectCode(await patch(remove), 403)
      expectCode(await patch({ op: 'add', path: '/spec/groups', value: ['platform-admins'] }), 403)
      expectCode(await patch(remove, { op: 'replace', path: '/spec/password', value: next }), 200)
      await eventually(async () => expectCode(await logIn(name, next), 200), 3_000)
      const { metadata: left } = parse(await sendAs(admin, `${base}/${name}`))
      expect(left.annotations).to.not.have.property(mark)
    })

    it('cannot guess their password with a stolen token', async () => {
      const name = await newUser()
      const token = await tokenOf(name)
      const guess = (i: number) =>
        send(token, 'PUT', `${base}/${name}/password`, {
          currentPassword: `Guess ${i}`,
          password: 'Another 1',
        })
      const responses = await Promise.all(Array.from({ length: 40 }, (_, i) => guess(i)))
      const count = (code: number) => responses.filter(response => response.code === code).length
      expect([count(400), count(429)]).to.deep.equal([10, 30])
      const [locked] = responses.filter(response => response.code === 429)
      expect(Number(locked?.headers['retry-after'])).to.be.within(1, 600)
      // Repeated until kapis-oauth has received the change.
      await eventually(async () => expectCode(await logIn(name, password), 429), 3_000)
    })

    it('are not returned without a login', async () => {
      const name = await newUser()
      const response = await sendToKapis(`${base}/${name}`)
      expect(response.code).to.equal(401)
    })
  })

  it('have unique e-mail addresses, in any letter case', async () => {
    const name = await newUser()
    await eventually(async () => {
      const spec = { email: `${name}@E2E.test`, password }
      const response = await send(admin, 'POST', `${base}?dryRun=All`, {
        metadata: { name: uniqueName('second') },
        spec,
      })
      expect(response.code).to.equal(422)
      expect(JSON.parse(response.body).details.causes).to.deep.equal([
        { reason: 'FieldValueInvalid', message: 'belongs to another user', field: 'spec.email' },
      ])
    }, 3_000)
  })

  it('are returned by a dry run as they would be stored, and not created', async () => {
    const name = uniqueName('tried')
    const spec = { email: `${name}@e2e.test`, description: '', displayName: '', lang: '', groups: ['dev'] }
    const tried = await send(admin, 'POST', `${base}?dryRun=All`, {
      metadata: { name },
      spec: { ...spec, password },
    })
    expectCode(tried, 201)
    const { metadata, spec: shown } = JSON.parse(tried.body)
    expect([metadata.name, shown]).to.deep.equal([name, spec])
    expectCode(await sendAs(admin, `${base}/${name}`), 404)
    expectCode(await send(admin, 'POST', base, { metadata: { name }, spec: { ...spec, password } }), 201)
    expectCode(await sendAs(admin, `${base}/${name}`, { method: 'DELETE' }), 200)
  })

  it('are rejected with the reason when they are malformed', async () => {
    const patch = { 'content-type': 'application/strategic-merge-patch+json' }
    const user = { metadata: { name: setting('KAPIS_USER') }, spec: { email: 'x@y.z' } }
    expectCode(await send(admin, 'POST', base, user, { 'content-type': 'text/plain' }), 415)
    expectCode(await send(admin, 'PATCH', `${base}/admin`, {}, patch), 415)
    expectCode(await sendAs(admin, base, { method: 'POST', headers: json, body: '{' }), 400)
    expectCode(await sendAs(admin, base, { method: 'POST', headers: json, body: 'x'.repeat(300_000) }), 413)
    expectCode(await send(admin, 'POST', base, user), 409)
    expectCode(await send(admin, 'PUT', base, user), 405)
    expectCode(await sendAs(admin, `${base}/nonexistent`), 404)
    expectCode(await sendAs(admin, `${base}/nonexistent`, { method: 'DELETE' }), 404)
    expectCode(await send(admin, 'PUT', `${base}/nonexistent/password`, { password }), 404)
    expectCode(await send(admin, 'PUT', `${base}/nonexistent/status`, { status: { state: 'Active' } }), 404)
    expectCode(await sendAs(admin, `${base}/admin/nothing`), 404)
  })
})

function expectCode(response: HttpResponse, code: number): void {
  expect(response.code, response.body).to.equal(code)
}

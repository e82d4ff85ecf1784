import { expect } from 'chai'
import { accessToken, type HttpResponse, kubectl, uniqueName } from './cluster.ts'
import { expectStatus, groupDomain, logIn, sendAs, statusBody } from './http.ts'

const group = `iam.${groupDomain}`
const base = `/kapis/${group}/v1alpha2/users`
const json = 'application/json'

type UserObject = { readonly metadata: Readonly<Record<string, unknown>> }

/** The requests for a user from creation to deletion. */
describe('a user throughout its life', function () {
  this.timeout(60_000)
  const name = uniqueName('whole')
  const spec = { email: `${name}@e2e.test`, displayName: 'Whole', groups: ['e2e-users'] }
  const password = 'Correct horse 1'
  let admin: string

  const send = (method: string, path: string, body?: unknown, type = json) => {
    const url = `${base}${path}`
    if (body === undefined) return sendAs(admin, url, { method, headers: { 'content-type': type } })
    const text = JSON.stringify(body)
    // Node.js sends a DELETE with a body without Content-Length by default.
    const headers = { 'content-type': type, 'content-length': String(Buffer.byteLength(text)) }
    return sendAs(admin, url, { method, headers, body: text })
  }

  before(async () => {
    admin = await accessToken()
  })
  after(() => kubectl('delete', `users.${group}`, name, '--ignore-not-found'))

  it('is returned completely at every step, never with the password', async () => {
    const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
    const whole = (response: HttpResponse, code: number, changes: object = {}): UserObject => {
      expect(response.code, response.body).to.equal(code)
      expect(response.headers['content-type']).to.equal(json)
      const user = JSON.parse(response.body)
      const { uid, resourceVersion, creationTimestamp, generation, annotations, ...metadata } = user.metadata
      const { lastTransitionTime, ...status } = user.status
      const {
        [`${group}/last-password-change-time`]: changedAt,
        [`${group}/globalrole`]: role = 'platform-regular',
        ...others
      } = annotations
      expect({ ...user, metadata, status }).to.deep.equal({
        kind: 'User',
        apiVersion: `${group}/v1alpha2`,
        metadata: { name, selfLink: `/apis/${group}/v1alpha2/users/${name}` },
        spec: { ...spec, ...changes },
        status: { state: 'Active', reason: '' },
      })
      for (const at of [creationTimestamp, lastTransitionTime, changedAt]) expect(at).to.match(time)
      expect([others, role]).to.deep.equal([{}, 'platform-regular'])
      expect(uid).to.match(/^[0-9a-f-]{36}$/)
      expect([Number(resourceVersion), generation].every(Number.isInteger)).to.equal(true)
      // Responses to writes do not contain the role.
      delete annotations[`${group}/globalrole`]
      return user
    }
    const made = whole(await send('POST', '', { metadata: { name }, spec: { ...spec, password } }), 201)
    expect(whole(await send('GET', `/${name}`), 200)).to.deep.equal(made)
    const put = { metadata: made.metadata, spec: { ...spec, displayName: 'Put', lang: 'en' } }
    const replaced = whole(await send('PUT', `/${name}`, put), 200, { displayName: 'Put', lang: 'en' })
    const stale = await send('PUT', `/${name}`, put)
    expectStatus(
      stale,
      statusBody(
        409,
        'Conflict',
        `Operation cannot be fulfilled on users.${group} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
        { name, group, kind: 'users' },
      ),
    )
    const patch = { spec: { displayName: 'Patched', lang: null } }
    const patched = whole(await send('PATCH', `/${name}`, patch, 'application/merge-patch+json'), 200, {
      displayName: 'Patched',
    })
    expect(patched.metadata.uid).to.equal(replaced.metadata.uid)
    expect(whole(await send('GET', `/${name}`), 200, { displayName: 'Patched' })).to.deep.equal(patched)
    expect((await logIn(name, password)).code).to.equal(200)
    // Sends the options of `kubectl delete --dry-run=server`, and a precondition that fails.
    const options = { kind: 'DeleteOptions', apiVersion: 'v1' }
    expect((await send('DELETE', `/${name}`, { ...options, dryRun: ['All'] })).code).to.equal(200)
    const other = { ...options, preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }
    expect((await send('DELETE', `/${name}`, other)).code).to.equal(409)
    expect((await send('DELETE', `/${name}?dryRun=All`, options)).code).to.equal(200)
    expect((await send('GET', `/${name}`)).code).to.equal(200)
    const removed = await send('DELETE', `/${name}`)
    expect([removed.code, JSON.parse(removed.body)]).to.deep.equal([200, { message: 'success' }])
    expectStatus(
      await send('GET', `/${name}`),
      statusBody(404, 'NotFound', `users.${group} "${name}" not found`, { name, group, kind: 'users' }),
    )
  })
})

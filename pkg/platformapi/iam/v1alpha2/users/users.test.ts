import { expect } from 'chai'
import { renderKube } from '../../../../apierrors/render-kube.ts'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import type { UserDraft } from '../../../../iam/users/user-draft.ts'
import { createUser, serveUser, type UsersOptions } from './users.ts'

const path = '/kapis/iam.kapis.io/v1alpha2/users'
const globalrole = 'iam.kapis.io/globalrole'

type Given = {
  /** Whether the caller may list bindings. */
  readonly mayRead?: boolean
  readonly isOwn?: boolean
  readonly fails?: boolean
}

/** Sends a request about the user ann, whose platform role is auditor. */
async function send(method: string, body: object, { mayRead = true, isOwn = false, fails }: Given = {}) {
  const events: unknown[] = []
  const object = (draft: Pick<UserDraft, 'name'>) => ({
    apiVersion: 'iam.kapis.io/v1alpha2',
    kind: 'User',
    metadata: {
      ...{ name: draft.name, uid: 'u-1', resourceVersion: '7', creationTimestamp: '2031-01-01T00:00:00Z' },
    },
    spec: { email: 'ann@x.test' },
  })
  const user = object({ name: 'ann' })
  const writer: UsersOptions['writer'] = {
    read: async () => user,
    async create(draft) {
      events.push('create')
      return object(draft)
    },
    async update(draft) {
      events.push('update')
      return object(draft)
    },
    setState: async () => user,
    setPassword: async () => undefined,
    remove: async () => void events.push('remove'),
  }
  const known = { version: '1', of: () => 'auditor' }
  const requireRead = async () => {
    if (!mayRead) throw new Status(403, 'Forbidden', 'no bindings')
  }
  const options: UsersOptions = {
    client: { call: async () => ({}), stream: async () => Promise.reject(new Error('none')), close() {} },
    groupDomain: 'kapis.io',
    writer,
    permitOf: () => async () => undefined,
    isOwn: () => isOwn,
    requireWrite: async () => undefined,
    users: { get: () => undefined },
    platformRoles: {
      read: async () => known,
      readFor: async () => (mayRead ? known : undefined),
      requireRead,
      async prepare() {
        await requireRead()
        return async () => {
          if (fails === true) throw new Status(409, 'Conflict', 'changed')
          events.push('give')
        }
      },
    },
    leaveBindings: async (_exchange, { name }) => void events.push(`leave ${name}`),
    audit: (_exchange, action, name) => void events.push(`audit ${action} ${name}`),
  }
  const server = await startLoopback(async (req, res) => {
    const exchange = toExchange(req, res)
    const run = method === 'POST' ? createUser(options, exchange) : serveUser(options, exchange)
    await run.catch(error => renderKube(res, error))
  })
  try {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const url = `http://127.0.0.1:${server.port}${method === 'POST' ? path : `${path}/ann`}`
    const response = await fetch(url, {
      method,
      headers: { 'content-type': type },
      body: JSON.stringify(body),
    })
    const { message } = JSON.parse(await response.text())
    return { code: response.status, message, events }
  } finally {
    await server.close()
  }
}

const withRole = (role: string) => ({
  metadata: { name: 'ann', annotations: { [globalrole]: role } },
  spec: { email: 'ann@x.test' },
})

describe('platform roles in writes of users', () => {
  for (const method of ['PUT', 'PATCH'])
    for (const role of ['auditor', 'platform-admin', 'none'])
      it(`${method} does not reveal whether ${role} is the role of a user`, async () =>
        expect(await send(method, withRole(role), { mayRead: false })).to.deep.equal({
          ...{ code: 403, message: 'no bindings', events: [] },
        }))

  it('accepts the role unchanged that the caller has read', async () =>
    expect(await send('PUT', withRole('auditor'))).to.deep.equal({
      ...{ code: 200, message: undefined, events: ['update', 'audit update ann'] },
    }))

  it('reports that a user was created although the role could not be assigned', async () =>
    expect(await send('POST', withRole('other'), { fails: true })).to.deep.equal({
      code: 409,
      message: 'changed: the user was created, without the platform role',
      events: ['create', 'audit create ann'],
    }))

  it('reports that a user was changed although the role could not be assigned', async () =>
    expect(await send('PUT', withRole('other'), { fails: true })).to.deep.equal({
      code: 409,
      message: 'changed: the user was updated, without the platform role',
      events: ['update', 'audit update ann'],
    }))
})

describe('DELETE of a user', () => {
  it('removes the user from bindings', async () =>
    expect((await send('DELETE', {})).events).to.deep.equal(['remove', 'audit delete ann', 'leave ann']))

  it('keeps bindings in a dry run', async () =>
    expect((await send('DELETE', { dryRun: ['All'] })).events).to.deep.equal(['remove']))
})

describe('the audit log of user writes', () => {
  const password = 'Correct horse 1'
  const spec = { email: 'ann@x.test', password }
  it('has one line per write', async () => {
    const { metadata } = withRole('other')
    expect((await send('POST', { metadata, spec })).events).to.deep.equal([
      ...['create', 'audit create ann', 'audit set password ann', 'give', 'audit grant other ann'],
    ])
    const body = { metadata: { name: 'ann' }, spec, status: { state: 'Disabled' } }
    expect((await send('PUT', body)).events).to.deep.equal([
      ...['update', 'audit update to Disabled ann', 'audit set password ann'],
    ])
  })
})

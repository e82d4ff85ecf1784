import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { rejectedStatus } from '../apierrors/fixtures.ts'
import { createBasicAuthenticator } from './basic.ts'

const agent = {
  name: 'agent',
  uid: 'u-1',
  groups: ['agents'],
  state: 'Active',
  credential: 'c1',
  mustChangePassword: false,
}
const identity = { username: 'agent', uid: 'u-1', groups: ['agents'], extra: {} }

function request(
  authorization: string | undefined,
  url = '/ingest/_bulk',
  headers: NodeJS.Dict<string> = {},
): IncomingMessage {
  const req = new IncomingMessage(new Socket())
  req.url = url
  Object.assign(req.headers, { host: 'kapis.test', ...headers })
  if (authorization !== undefined) req.headers.authorization = authorization
  return req
}

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

function create() {
  const checked: string[] = []
  const users = new Map([['agent', agent]])
  const { authenticate, hasEnded } = createBasicAuthenticator({
    accepts(path) {
      if (path.startsWith('/ingest')) return { cacheMs: 300_000, takesFirstPassword: true }
      return path.startsWith('/kapis/api') ? { cacheMs: 30, takesFirstPassword: false } : undefined
    },
    check: async (_, login, password) => {
      checked.push(`${login} ${password}`)
      if (password === 'locked') return { outcome: 'locked', retryAfterSeconds: 7 }
      const user = login === 'agent' && password === 'p:1' ? users.get('agent') : undefined
      return user === undefined ? { outcome: 'wrong' } : { outcome: 'right', user }
    },
    users,
  })
  return { authenticate: async (req: IncomingMessage) => authenticate(req), hasEnded, checked, users }
}

describe('createBasicAuthenticator', () => {
  it('authenticates a user by a password, which may contain colons, and hashes it only once', async () => {
    const { authenticate, checked } = create()
    expect(await authenticate(request(basic('agent:p:1')))).to.deep.equal(identity)
    expect(await authenticate(request(basic('agent:p:1')))).to.deep.equal(identity)
    expect(checked).to.deep.equal(['agent p:1'])
  })

  it('rejects a second header with another value, and accepts a repeated one', async () => {
    const { authenticate } = create()
    const twice = (second: string) => {
      const req = request(basic('agent:p:1'))
      req.rawHeaders.push('Authorization', basic('agent:p:1'), 'authorization', second)
      return authenticate(req)
    }
    expect(await twice(basic('agent:p:1'))).to.deep.equal(identity)
    for (const second of [basic('x:y'), 'Bearer x', ''])
      expect((await rejectedStatus(twice(second))).code, second).to.equal(401)
  })

  it('hashes again after a change of the password, and not if the user was deleted', async () => {
    const { authenticate, checked, users } = create()
    await authenticate(request(basic('agent:p:1')))
    users.set('agent', { ...agent, credential: 'c2' })
    await authenticate(request(basic('agent:p:1')))
    expect(checked).to.have.length(2)
    users.delete('agent')
    expect(await rejectedStatus(authenticate(request(basic('agent:p:1'))))).to.have.property('code', 401)
  })

  it('rejects a password that needs a second factor, with that reason', async () => {
    const authenticator = createBasicAuthenticator({
      accepts: () => ({ cacheMs: 1000, takesFirstPassword: true }),
      check: async () => ({ outcome: 'second-factor-required' }),
      users: { get: () => undefined },
    })
    const error = await rejectedStatus(
      Promise.resolve(authenticator.authenticate(request(basic('agent:p:1')))),
    )
    expect(error).to.include({
      code: 401,
      message: 'this user needs a second factor: use the token of a login',
    })
  })

  it('rejects a disabled user, even with the correct password', async () => {
    const { authenticate, users } = create()
    await authenticate(request(basic('agent:p:1')))
    users.set('agent', { ...agent, state: 'Disabled' })
    expect(await rejectedStatus(authenticate(request(basic('agent:p:1'))))).to.have.property('code', 401)
  })

  for (const header of [
    basic('agent:wrong'),
    basic('agent'),
    basic(':p'),
    'Basic',
    'Basic ',
    'basic %%%',
    basic(`a:${'x'.repeat(5000)}`),
  ]) {
    it(`rejects ${header.slice(0, 30)}`, async () => {
      const outcome = await create()
        .authenticate(request(header))
        .catch(error => error.code)
      expect(outcome).to.be.oneOf([401, null])
    })
  }

  it('ignores other schemes, other paths and requests without a credential', async () => {
    const { authenticate, checked } = create()
    expect(await authenticate(request(undefined))).to.equal(null)
    expect(await authenticate(request('Bearer x'))).to.equal(null)
    expect(await authenticate(request(basic('agent:p:1'), '/kapis/other'))).to.equal(null)
    expect(checked).to.deep.equal([])
  })

  const api = (text: string) => request(basic(text), '/kapis/api/users')

  it('caches the password check only briefly outside of log ingestion', async () => {
    const { authenticate, checked } = create()
    for (let i = 0; i < 3; i++) await authenticate(api('agent:p:1'))
    expect(checked).to.have.length(1)
    await new Promise(resolve => setTimeout(resolve, 50))
    await authenticate(api('agent:p:1'))
    expect(checked).to.have.length(2)
  })

  it('responds to a wrong password with a Basic challenge', async () => {
    const error = await rejectedStatus(create().authenticate(api('agent:wrong')))
    expect(error).to.deep.include({
      code: 401,
      message: 'Unauthorized',
      headers: { 'www-authenticate': 'Basic realm="kapis", charset="UTF-8"' },
    })
  })

  it('reports when a locked user may try again', async () => {
    const error = await rejectedStatus(create().authenticate(api('agent:locked')))
    expect(error).to.deep.include({ code: 429, headers: { 'retry-after': '7' } })
  })

  it('accepts a password that an administrator has set for log ingestion only', async () => {
    const { authenticate, users } = create()
    users.set('agent', { ...agent, mustChangePassword: true })
    expect(await rejectedStatus(authenticate(api('agent:p:1')))).to.have.property('code', 401)
    expect(await authenticate(request(basic('agent:p:1')))).to.deep.equal(identity)
    // The cached result for log lines does not apply to other paths.
    expect(await rejectedStatus(authenticate(api('agent:p:1')))).to.have.property('code', 401)
  })

  it('verifies one password once for concurrent requests', async () => {
    const { authenticate, checked } = create()
    const found = await Promise.all(Array.from({ length: 20 }, () => authenticate(api('agent:p:1'))))
    expect(found.map(each => each?.username)).to.deep.equal(Array(20).fill('agent'))
    expect(checked).to.deep.equal(['agent p:1'])
  })

  it('counts each wrong password of concurrent requests', async () => {
    const { authenticate, checked } = create()
    const codes = await Promise.all(
      Array.from({ length: 3 }, async () => (await rejectedStatus(authenticate(api('agent:wrong')))).code),
    )
    expect([codes, checked]).to.deep.equal([[401, 401, 401], Array(3).fill('agent wrong')])
  })

  for (const target of [
    '/kapis/api/users?limit=1',
    'https://kapis.test/kapis/api/users',
    '/kapis/%61pi/users',
    '/kapis/api?x=/other',
  ])
    it(`parses the path of ${target} as the handler does`, async () =>
      expect(await create().authenticate(request(basic('agent:p:1'), target))).to.deep.equal(identity))

  const foreign: readonly (readonly [string, NodeJS.Dict<string>])[] = [
    ['a form or an image of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of a sibling host', { 'sec-fetch-site': 'same-site' }],
    ['a WebSocket of another site', { origin: 'https://evil.test', upgrade: 'websocket' }],
    ['a sandboxed frame', { origin: 'null' }],
  ]
  for (const [title, headers] of foreign)
    it(`rejects a password that a browser sends from ${title}`, async () => {
      const { authenticate, checked } = create()
      for (const url of ['/kapis/api/users', '/ingest/_bulk']) {
        // A page of the same origin has sent the password before, so it is cached.
        await authenticate(request(basic('agent:p:1'), url, { 'sec-fetch-site': 'same-origin' }))
        const error = await rejectedStatus(authenticate(request(basic('agent:p:1'), url, headers)))
        expect(error).to.deep.include({
          code: 403,
          message: 'HTTP Basic is not accepted from a page of another origin',
        })
      }
      expect(checked).to.have.length(2)
    })

  const ends: readonly (readonly [string, object | undefined])[] = [
    ['has a new password', { credential: 'c2' }],
    ['was disabled', { state: 'Disabled' }],
    ['was replaced by another user with the name', { uid: 'u-2' }],
    ['was deleted', undefined],
  ]
  for (const [title, change] of ends)
    it(`closes the open streams of a caller when the user ${title}`, async () => {
      const { authenticate, hasEnded, users } = create()
      const caller = await authenticate(api('agent:p:1'))
      if (caller === null) throw new Error('not recognized')
      expect(hasEnded({ ...caller, groups: [] })).to.equal(false)
      if (change === undefined) users.delete('agent')
      else users.set('agent', { ...agent, ...change })
      expect(hasEnded({ ...caller, groups: [] })).to.equal(true)
    })

  it('closes no streams of other callers', () =>
    expect(create().hasEnded({ username: 'agent', uid: '', groups: [], extra: {} })).to.equal(false))
})

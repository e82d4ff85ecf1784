import { expect } from 'chai'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'
import type { HttpResponse } from '../request-fixtures.ts'

const path = '/oauth/personal-access-tokens'
const parsed = ({ code, body }: HttpResponse) => [code, body === '' ? '' : JSON.parse(body)]

describe(path, () => {
  let app: TestApp
  let token: string
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())
  beforeEach(async () => {
    app.sessions.clear()
    app.users.set('alice', memoryUser('alice'))
    token = (await app.login('alice')).access_token
  })

  const send = (method: string, body?: unknown, { at = path, as = token } = {}) =>
    app.send(method, at, {
      headers: {
        ...(as === '' ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  async function create(body: object) {
    const response = await send('POST', body)
    expect(response.code, response.body).to.equal(201)
    return JSON.parse(response.body)
  }

  const made: readonly [string, object, { scope: string; seconds: number }][] = [
    ['with only a name', { name: 'ci' }, { scope: 'full', seconds: 30 * 86_400 }],
    ['that is read-only', { name: 'ci', scope: 'read' }, { scope: 'read', seconds: 30 * 86_400 }],
    ['for a minute', { name: 'ci', expiresInSeconds: 60 }, { scope: 'full', seconds: 60 }],
    ['for a year', { name: 'ci', expiresInSeconds: 366 * 86_400 }, { scope: 'full', seconds: 366 * 86_400 }],
  ]
  for (const [what, body, { scope, seconds }] of made) {
    it(`creates a token ${what}`, async () => {
      const response = await send('POST', body)
      expect(response.code).to.equal(201)
      expect(response.headers['cache-control']).to.equal('no-store')
      const { id, createdAt, expiresAt, token: made, ...rest } = JSON.parse(response.body)
      expect(rest).to.deep.equal({ name: 'ci', scope })
      for (const time of [createdAt, expiresAt]) expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      const { exp, iat, jti, ...claims } = await app.tools.verifier.verifyAccess(made)
      expect(exp - iat).to.equal(seconds)
      // The audience is not the one of kube-apiserver, which would accept the token after it was
      // revoked.
      expect(claims).to.deep.equal({
        sub: 'alice',
        uid: 'uid-alice',
        sid: id,
        clientId: 'kapis',
        scope,
        aud: ['kapis.io:live'],
      })
      expect(app.sessions.get(id)).to.include({
        type: 'PersonalAccessToken',
        displayName: 'ci',
        user: 'alice',
      })
      expect(JSON.stringify(app.lines)).to.not.contain(made)
    })
  }

  it('lists the tokens of the caller, without their values', async () => {
    const { token: secret, ...first } = await create({ name: 'a' })
    const second = await create({ name: 'b', scope: 'read' })
    app.users.set('bob', memoryUser('bob'))
    await send('POST', { name: 'c' }, { as: (await app.login('bob')).access_token })
    const response = await send('GET')
    const { items } = JSON.parse(response.body)
    expect(items).to.have.length(2)
    expect(items).to.deep.include(first)
    expect(items.map(({ id }: { id: string }) => id)).to.include(second.id)
    expect(response.body).to.not.contain(secret)
  })

  it('revokes a token, immediately and permanently', async () => {
    const { id, token: pat } = await create({ name: 'a' })
    const headers = { authorization: `Bearer ${pat}` }
    expect(await app.send('GET', '/oauth/userinfo', { headers })).to.include({ code: 200 })
    expect(parsed(await send('DELETE', undefined, { at: `${path}/${id}` }))).to.deep.equal([204, ''])
    expect(await app.send('GET', '/oauth/userinfo', { headers })).to.include({ code: 401 })
    expect(JSON.parse((await send('GET')).body)).to.deep.equal({ items: [] })
    expect(await send('DELETE', undefined, { at: `${path}/${id}` })).to.include({ code: 404 })
  })

  const unknown = [404, { error: 'invalid_request', error_description: 'unknown personal access token' }]
  it('revokes neither tokens of other users nor sessions', async () => {
    const { id } = await create({ name: 'a' })
    app.users.set('bob', memoryUser('bob'))
    const as = (await app.login('bob')).access_token
    expect(parsed(await send('DELETE', undefined, { at: `${path}/${id}`, as }))).to.deep.equal(unknown)
    const { sid } = await app.tools.verifier.verifyAccess(token)
    expect(parsed(await send('DELETE', undefined, { at: `${path}/${sid}` }))).to.deep.equal(unknown)
    expect(parsed(await send('DELETE', undefined, { at: `${path}/nothing` }))).to.deep.equal(unknown)
    expect(app.sessions.get(id)?.ended).to.equal('')
  })

  it('creates a token that becomes invalid with its user and identity provider', async () => {
    const { sid } = await app.tools.verifier.verifyAccess(token)
    const login = app.sessions.get(sid)
    if (login === undefined) throw new Error('no session')
    app.sessions.set(sid, { ...login, provider: 'corp', credential: 'c1', userGeneration: 7 })
    const { id, token: pat } = await create({ name: 'a' })
    app.sessions.set(sid, login)
    const proof = { provider: 'corp', credential: 'c1', userGeneration: 7 }
    expect(app.sessions.get(id)).to.include(proof)
    const headers = { authorization: `Bearer ${pat}` }
    app.users.set('alice', memoryUser('alice', { state: 'Disabled' }))
    expect(await app.send('GET', '/oauth/userinfo', { headers })).to.include({ code: 401 })
  })

  it('neither creates nor revokes tokens until a password that an administrator set is changed', async () => {
    const { id } = await create({ name: 'a' })
    app.users.set('alice', memoryUser('alice', { mustChangePassword: true }))
    const refused = [
      403,
      {
        error: 'access_denied',
        error_description: 'the password of this user was set by an administrator: change it first',
      },
    ]
    expect(parsed(await send('POST', { name: 'b' }))).to.deep.equal(refused)
    expect(parsed(await send('DELETE', undefined, { at: `${path}/${id}` }))).to.deep.equal(refused)
    expect(JSON.parse((await send('GET')).body).items).to.have.length(1)
  })

  it('neither creates nor revokes tokens in a session without the second factor that the policy requires', async () => {
    const { id } = await create({ name: 'a' })
    app.requiredGroups.push('dev')
    try {
      const refused = [
        403,
        { error: 'access_denied', error_description: 'this user needs a second factor: log in again' },
      ]
      expect(parsed(await send('POST', { name: 'b' }))).to.deep.equal(refused)
      expect(parsed(await send('DELETE', undefined, { at: `${path}/${id}` }))).to.deep.equal(refused)
      expect(JSON.parse((await send('GET')).body).items).to.have.length(1)
      const { sid } = await app.tools.verifier.verifyAccess(token)
      const session = app.sessions.get(sid)
      if (session === undefined) throw new Error('no session')
      app.sessions.set(sid, { ...session, amr: 'pwd otp mfa' })
      await create({ name: 'b' })
    } finally {
      app.requiredGroups.pop()
    }
  })

  it('creates no token in a session that has ended, even before the watch reports it', async () => {
    const { sid } = await app.tools.verifier.verifyAccess(token)
    const session = app.sessions.get(sid)
    if (session === undefined) throw new Error('no session')
    const isRevoked = app.tools.sessions.isRevoked
    Object.assign(app.tools.sessions, { isRevoked: () => false })
    app.sessions.set(sid, { ...session, ended: 'logout' })
    try {
      expect(parsed(await send('POST', { name: 'b' }))).to.deep.equal([401, { error: 'login_required' }])
    } finally {
      Object.assign(app.tools.sessions, { isRevoked })
    }
  })

  it('rejects requests with another token than that of a session', async () => {
    const { id, token: as } = await create({ name: 'a' })
    const refused = [
      403,
      {
        error: 'access_denied',
        error_description: 'personal access tokens can only be created and deleted with the token of a login',
      },
    ]
    expect(parsed(await send('POST', { name: 'b' }, { as }))).to.deep.equal(refused)
    expect(parsed(await send('GET', undefined, { as }))).to.deep.equal(refused)
    expect(parsed(await send('DELETE', undefined, { at: `${path}/${id}`, as }))).to.deep.equal(refused)
  })

  it('does not redirect to a login page', async () => {
    for (const [method, at] of [
      ['GET', path],
      ['POST', path],
      ['DELETE', `${path}/x`],
    ] as const) {
      const response = await send(method, method === 'POST' ? { name: 'a' } : undefined, { at, as: '' })
      expect(parsed(response)).to.deep.equal([401, { error: 'login_required' }])
    }
  })

  it('creates at most a hundred tokens until one is deleted', async () => {
    for (let i = 0; i < 100; i++) await create({ name: `t${i}` })
    expect(parsed(await send('POST', { name: 'more' }))).to.deep.equal([
      400,
      { error: 'invalid_request', error_description: 'the limit of 100 personal access tokens is reached' },
    ])
  })

  const name = 'name must be text of 1 to 253 characters'
  const scope = 'scope must be one of full, read'
  const life = 'expiresInSeconds must be a whole number from 60 to 31622400'
  const malformed: readonly [string, unknown, string][] = [
    ['no JSON', '{', 'the body is not valid JSON'],
    ['a list', [], 'the body must be an object'],
    ['nothing', {}, name],
    ['an empty name', { name: '' }, name],
    ['a blank name', { name: ' ' }, name],
    ['a long name', { name: 'x'.repeat(254) }, name],
    ['a number for a name', { name: 7 }, name],
    ['an unknown scope', { name: 'a', scope: 'write' }, scope],
    ['two scopes', { name: 'a', scope: 'read full' }, scope],
    ['a list of scopes', { name: 'a', scope: ['read'] }, scope],
    ['a lifetime of zero', { name: 'a', expiresInSeconds: 0 }, life],
    ['an unlimited lifetime', { name: 'a', expiresInSeconds: 1e12 }, life],
    ['a lifetime of half a second', { name: 'a', expiresInSeconds: 60.5 }, life],
    ['a string as the lifetime', { name: 'a', expiresInSeconds: '60' }, life],
    [
      'an unknown field',
      { name: 'a', expiresIn: 60 },
      'unknown fields; supported: name, scope, expiresInSeconds',
    ],
  ]
  for (const [what, body, description] of malformed) {
    it(`rejects ${what}`, async () => {
      expect(parsed(await send('POST', body))).to.deep.equal([
        400,
        { error: 'invalid_request', error_description: description },
      ])
    })
  }

  it('rejects another content type', async () => {
    const response = await app.form(path, { name: 'a' }, { authorization: `Bearer ${token}` })
    expect(parsed(response)).to.deep.equal([
      415,
      { error: 'invalid_request', error_description: 'the body must be application/json' },
    ])
    expect(response.headers['accept-post']).to.equal('application/json')
  })
})

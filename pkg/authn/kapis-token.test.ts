import { expect } from 'chai'
import { rejectedStatus } from '../apierrors/fixtures.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { noAccess } from '../iam/accessrequests/access-request-store.ts'
import { receiveRequest } from './fixtures.ts'
import { createKapisTokenAuthenticator } from './kapis-token.ts'

describe('createKapisTokenAuthenticator', () => {
  const claims = {
    sub: 'jane',
    uid: 'u-1',
    sid: 's-1',
    jti: 'j-1',
    exp: Date.now() / 1000 + 86_400,
    iat: 1,
    scope: '',
  }
  function start(given = claims) {
    const state = {
      verified: 0,
      isRevoked: false,
      given: noAccess,
      keys: {},
      user: { name: 'jane', uid: 'u-1', groups: ['dev'], state: 'Active' } as
        | { name: string; uid: string; groups: string[]; state: string }
        | undefined,
    }
    const authenticator = createKapisTokenAuthenticator({
      verifier: {
        isOurs: token => token === 'ours',
        verifyAccess: async () => {
          state.verified++
          return given
        },
      },
      keys: { current: () => state.keys },
      users: { get: () => state.user },
      sessions: { isRevoked: () => state.isRevoked },
      findAccess: (user, sid) => (user.name === 'jane' && sid === 's-1' ? state.given : noAccess),
      clockSkewSeconds: 10,
    })
    const send = async () =>
      authenticator.authenticate(await receiveRequest(['Authorization', 'Bearer ours']))
    return { state, send, authenticator }
  }

  it('verifies a signature once, and the user each time', async () => {
    const { state, send } = start()
    expect(await send()).to.deep.include({ username: 'jane', uid: 'u-1', groups: ['dev'] })
    state.user = { name: 'jane', uid: 'u-1', groups: ['ops'], state: 'Active' }
    expect(await send()).to.deep.include({ groups: ['ops'] })
    expect(state.verified).to.equal(1)
  })

  it('verifies a signature again after a change of the keys: its key may have been removed', async () => {
    const { state, send } = start()
    await send()
    state.keys = {}
    await send()
    await send()
    expect(state.verified).to.equal(2)
  })

  it('reports for an identity and its copies whether the session has ended since', async () => {
    const { state, send, authenticator } = start()
    const [identity, other] = [await send(), await start().send()]
    if (identity === null || other === null) throw new Error('no identity')
    const hasEnded = () => authenticator.hasEnded({ ...identity })
    expect(hasEnded()).to.equal(false)
    state.isRevoked = true
    expect(hasEnded()).to.equal(true)
    expect(authenticator.hasEnded(other)).to.equal(false)
    Object.assign(state, { isRevoked: false, user: undefined })
    expect(hasEnded()).to.equal(true)
  })

  const changes: readonly (readonly [string, (state: ReturnType<typeof start>['state']) => object])[] = [
    ['the user is disabled', state => Object.assign(state, { user: { ...state.user, state: 'Disabled' } })],
    ['the user is deleted', state => Object.assign(state, { user: undefined })],
    [
      'the name belongs to another user',
      state => Object.assign(state, { user: { ...state.user, uid: 'u-2' } }),
    ],
    ['the session has ended', state => Object.assign(state, { isRevoked: true })],
  ]
  for (const [what, change] of changes) {
    it(`rejects a token it has accepted before, once ${what}`, async () => {
      const { state, send } = start()
      await send()
      change(state)
      expect(await rejectedStatus(send())).to.include({ code: 401, message: 'Unauthorized' })
    })
  }

  it('adds temporary groups, and expires with them', async () => {
    const { state, send, authenticator } = start()
    const hasEnded = (identity: Identity | null) => identity !== null && authenticator.hasEnded(identity)
    const before = await send()
    const extra = { 'iam.kapis.io/access-request': ['a'] }
    state.given = { groups: ['ops', 'dev'], extra }
    const during = await send()
    expect(during?.groups).to.deep.equal(['dev', 'ops'])
    expect(during?.extra).to.include(extra)
    expect(await send()).to.equal(during)
    expect(hasEnded(during)).to.equal(false)
    state.given = noAccess
    expect(hasEnded(during)).to.equal(true)
    expect(hasEnded(before)).to.equal(false)
    const after = await send()
    expect(after?.groups).to.deep.equal(['dev'])
    expect(after?.extra).to.not.have.property('iam.kapis.io/access-request')
    expect(state.verified).to.equal(1)
  })

  it('accepts a token without a uid, as earlier releases issued', async () => {
    const { state, send } = start({ ...claims, uid: '' })
    expect(await send()).to.deep.include({ username: 'jane', uid: 'u-1' })
    state.user = state.user && { ...state.user, uid: 'u-2' }
    expect(await send()).to.deep.include({ username: 'jane', uid: 'u-2' })
  })

  it('marks the identity of a read-only token', async () => {
    const { state, send } = start()
    expect(await send()).to.not.have.property('isReadOnly')
    const reading = start({ ...claims, scope: 'read' })
    expect(await reading.send()).to.deep.include({ username: 'jane', isReadOnly: true })
    reading.state.user = state.user && { ...state.user, groups: ['ops'] }
    expect(await reading.send()).to.deep.include({ groups: ['ops'], isReadOnly: true })
  })

  it('ignores tokens of other issuers', async () => {
    const { authenticator } = start()
    expect(authenticator.authenticate(await receiveRequest(['Authorization', 'Bearer foreign']))).to.equal(
      null,
    )
  })
})

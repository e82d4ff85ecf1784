import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { createScriptedCollection, silent, until } from '../fixtures.ts'
import { toUser } from '../users/user.ts'
import { toSession } from './session.ts'
import { SessionStore } from './session-store.ts'

const hour = 3_600_000

function session(name: string, spec: Readonly<Record<string, unknown>> = {}): KubeObject {
  const expiresAt = new Date(Date.now() + hour).toISOString()
  return {
    metadata: { name, uid: name, resourceVersion: '2', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { user: 'alice', clientId: 'kapis', refreshId: 'r', expiresAt, ...spec },
  }
}

describe('SessionStore', () => {
  let store: SessionStore
  afterEach(() => store.stop())

  async function follow(
    initial: readonly KubeObject[],
    users = new Map<string, ReturnType<typeof toUser>>(),
  ) {
    const collection = createScriptedCollection(initial)
    const { client } = collection
    store = new SessionStore({
      client,
      groupDomain: 'kapis.io',
      logger: silent,
      accessTokenSeconds: 7200,
      clockSkewSeconds: 10,
      users,
    })
    expect(store.isReady).to.equal(false)
    await store.start()
    expect(store.isReady).to.equal(true)
    return collection
  }

  it('reports which sessions have ended', async () => {
    await follow([session('good'), session('over', { ended: 'logout' })])
    expect(store.isRevoked('good')).to.equal(false)
    expect(store.isRevoked('over')).to.equal(true)
  })

  it('ends an exchanged token with its session', async () => {
    const iat = Date.now() / 1000
    await follow([
      session('good'),
      session('over', { ended: 'logout' }),
      session('of-good', { type: 'TokenExchange', parent: 'good' }),
      session('of-over', { type: 'TokenExchange', parent: 'over' }),
    ])
    expect(store.isRevoked('of-good', iat)).to.equal(false)
    expect(store.isRevoked('of-over', iat)).to.equal(true)
  })

  it('accepts a session that another replica may have created a moment ago', async () => {
    await follow([])
    expect(store.isRevoked('new')).to.equal(false)
    expect(store.isRevoked('new', Date.now() / 1000)).to.equal(false)
  })

  describe('for a session that was not in the list', () => {
    const seconds = (ms: number) => Math.floor(ms / 1000)
    // Times in milliseconds after the list. Clocks may differ by 10 s.
    const rows: readonly [string, { issuedMs: number; askedMs: number }, boolean][] = [
      ['issued an hour before', { issuedMs: -hour, askedMs: 0 }, true],
      ['issued a minute before', { issuedMs: -60_000, askedMs: 0 }, true],
      ['issued just before what clocks differ', { issuedMs: -13_000, askedMs: 0 }, true],
      ['issued by a clock that may be behind', { issuedMs: -8_000, askedMs: 0 }, false],
      [
        'issued by such a clock, when the watch would have reported it',
        { issuedMs: -8_000, askedMs: 60_000 },
        true,
      ],
      ['issued by a clock that may be ahead', { issuedMs: 8_000, askedMs: 8_000 }, false],
      [
        'issued by that one, when the watch would have reported it',
        { issuedMs: 8_000, askedMs: 60_000 },
        true,
      ],
      ['issued after, for as long as the watch is behind', { issuedMs: 30_000, askedMs: hour }, false],
    ]
    for (const [what, { issuedMs, askedMs }, isRevoked] of rows) {
      it(`${isRevoked ? 'rejects' : 'accepts'} a token ${what}`, async () => {
        const beforeMs = Date.now()
        await follow([])
        const nowMs = Date.now() + askedMs
        expect(store.isRevoked('s', seconds(beforeMs + issuedMs), nowMs)).to.equal(isRevoked)
      })
    }
  })

  it('rejects the tokens of an earlier user for a later one with the same name', async () => {
    const metadata = { name: 'alice', uid: 'u2', resourceVersion: '1', creationTimestamp: '' }
    const users = new Map([['alice', toUser({ metadata, spec: {} })]])
    await follow([session('old', { userUid: 'u1' }), session('own', { userUid: 'u2' })], users)
    expect(store.isRevoked('old')).to.equal(true)
    expect(store.isRevoked('own')).to.equal(false)
  })

  it('is notified when a session ends', async () => {
    const collection = await follow([session('s')])
    await until(() => {
      collection.emit({ type: 'MODIFIED', object: session('s', { ended: 'logout' }) })
      return store.isRevoked('s')
    })
  })

  it('treats a session that is deleted before its expiry as ended', async () => {
    const collection = await follow([session('s')])
    await until(() => {
      collection.emit({ type: 'DELETED', object: session('s') })
      return store.isRevoked('s')
    })
  })

  it('remembers ended sessions when the watch restarts', async () => {
    const collection = await follow([session('s'), session('missed'), session('kept')])
    await until(() => {
      collection.emit({ type: 'DELETED', object: session('s') })
      return store.isRevoked('s')
    })
    collection.expire([session('kept')])
    // The session was deleted while the watch was disconnected.
    await until(() => store.isRevoked('missed'))
    expect(store.isRevoked('s')).to.equal(true)
    expect(store.isRevoked('kept')).to.equal(false)
  })

  describe('onEnd', () => {
    const over = { expiresAt: new Date(Date.now() - 3 * hour).toISOString() }

    async function followEnds(initial: readonly KubeObject[], stored: () => KubeObject = () => session('s')) {
      const ends: string[] = []
      const collection = createScriptedCollection(initial)
      const { client } = collection
      store = new SessionStore({
        client: {
          ...client,
          call: async options => (options.method === 'PUT' ? stored() : client.call(options)),
        },
        ...{ groupDomain: 'kapis.io', logger: silent, accessTokenSeconds: 7200, clockSkewSeconds: 10 },
        onEnd: ({ sid, ended }) => void ends.push(`${sid}: ${ended}`),
      })
      await store.start()
      return { ...collection, ends }
    }

    it('is called by the replica that stores the end, and by no other', async () => {
      const ended = session('s', { ended: 'logout' })
      const { ends, emit } = await followEnds([session('s'), session('other')], () => ended)
      await store.update(toSession(ended))
      expect(ends).to.deep.equal(['s: logout'])
      // The watch reports the end of its own session and of another replica's; then both are
      // deleted.
      await until(() => {
        emit({ type: 'MODIFIED', object: ended })
        emit({ type: 'MODIFIED', object: session('other', { ended: 'logout' }) })
        return store.isRevoked('other')
      })
      emit({ type: 'DELETED', object: ended })
      emit({ type: 'DELETED', object: session('other', { ended: 'logout' }) })
      emit({ type: 'DELETED', object: session('last') })
      await until(() => store.isRevoked('last'))
      expect(ends).to.deep.equal(['s: logout', 'last: deleted'])
    })

    it('is not called for a refresh, or an end that another replica has stored first', async () => {
      const { ends } = await followEnds([session('s')])
      expect(await store.update(toSession(session('s')))).to.equal(true)
      expect(ends).to.deep.equal([])
      store.stop()
      const conflicted = await followEnds([session('s')], () => {
        throw new Status(409, 'Conflict', 'it has changed')
      })
      expect(await store.update(toSession(session('s', { ended: 'logout' })))).to.equal(false)
      expect(conflicted.ends).to.deep.equal([])
    })

    it('is called once for a session that is deleted, and not for an expired one', async () => {
      const { ends, emit } = await followEnds([session('s'), session('over', over)])
      emit({ type: 'DELETED', object: session('over', over) })
      emit({ type: 'DELETED', object: session('s') })
      emit({ type: 'DELETED', object: session('s') })
      emit({ type: 'DELETED', object: session('last') })
      await until(() => store.isRevoked('last'))
      expect(ends).to.deep.equal(['s: deleted', 'last: deleted'])
    })

    it('is called for sessions that were deleted while the watch was disconnected', async () => {
      const { ends, emit, expire } = await followEnds([
        session('s'),
        session('kept'),
        session('ended', { ended: 'x' }),
      ])
      // Emitted repeatedly, since only a running watch can expire.
      await until(() => {
        emit({ type: 'DELETED', object: session('first') })
        return store.isRevoked('first')
      })
      expire([session('kept')])
      await until(() => store.isRevoked('s'))
      expect(ends).to.deep.equal(['first: deleted', 's: deleted'])
    })
  })

  it('treats a session as ended after a password change of its user', async () => {
    const metadata = { name: 'alice', uid: 'u1', resourceVersion: '1', creationTimestamp: '', generation: 1 }
    const password = `$2b$10$${'a'.repeat(53)}`
    const alice = toUser({ metadata, spec: { password } })
    const users = new Map([['alice', alice]])
    const { credential } = alice
    await follow([session('s', { userUid: 'u1', userGeneration: 1, credential })], users)
    expect(store.isRevoked('s')).to.equal(false)
    const changed = `$2b$10$${'b'.repeat(53)}`
    users.set('alice', toUser({ metadata: { ...metadata, generation: 2 }, spec: { password: changed } }))
    expect(store.isRevoked('s')).to.equal(true)
  })

  describe('hasTokenOf', () => {
    const nowMs = Date.now()
    const at = (ms: number) => new Date(nowMs + ms).toISOString()
    const seconds = (ms: number) => (nowMs + ms) / 1000
    const rows: readonly [string, Readonly<Record<string, unknown>>, boolean][] = [
      ['signed in between', { rotatedAt: at(-5 * hour) }, true],
      ['signed before', { rotatedAt: at(-8 * hour) }, false],
      ['signed after', { rotatedAt: at(-2 * hour) }, false],
      ['signed where clocks may differ', { rotatedAt: at(-6 * hour - 60_000) }, true],
      ['of a login that has ended', { rotatedAt: at(-5 * hour), ended: 'logout' }, false],
      ['that has expired', { rotatedAt: at(-5 * hour), expiresAt: at(-3 * hour) }, false],
    ]
    for (const [what, spec, isNeeded] of rows) {
      it(`returns ${isNeeded} for a token ${what}`, async () => {
        await follow([session('s', spec)])
        expect(store.hasTokenOf(seconds(-6 * hour), seconds(-4 * hour), nowMs)).to.equal(isNeeded)
      })
    }
  })

  describe('hasIdTokenOf', () => {
    const nowMs = Date.now()
    const at = (ms: number) => new Date(nowMs + ms).toISOString()
    const seconds = (ms: number) => (nowMs + ms) / 1000
    const openid = { scope: 'openid email' }
    const rows: readonly [string, number, Readonly<Record<string, unknown>>, boolean][] = [
      ['of a session that began after the list', -5, { ...openid, rotatedAt: at(-5 * hour) }, true],
      [
        'of a session that began after the list and was refreshed',
        -5,
        { ...openid, rotatedAt: at(-hour) },
        true,
      ],
      [
        'of a session that began before the list and was refreshed after it',
        -9,
        { ...openid, rotatedAt: at(-hour) },
        true,
      ],
      ['of a session that began later', -3, { ...openid, rotatedAt: at(-hour) }, false],
      [
        'of a session that was last refreshed before the list',
        -9,
        { ...openid, rotatedAt: at(-8 * hour) },
        false,
      ],
      ['without openid', -5, { scope: 'email', rotatedAt: at(-5 * hour) }, false],
      ['of a session that has ended', -5, { ...openid, rotatedAt: at(-5 * hour), ended: 'logout' }, false],
      [
        'of a session that has expired',
        -5,
        { ...openid, rotatedAt: at(-5 * hour), expiresAt: at(-3 * hour) },
        false,
      ],
    ]
    for (const [what, began, spec, expected] of rows) {
      it(`returns ${expected} for a session ${what}`, async () => {
        const { metadata, ...rest } = session('s', spec)
        await follow([{ ...rest, metadata: { ...metadata, creationTimestamp: at(began * hour) } }])
        expect(store.hasIdTokenOf(seconds(-6 * hour), seconds(-4 * hour), nowMs)).to.equal(expected)
      })
    }
  })

  it('collects sessions whose tokens have all expired, and no others', async () => {
    const at = (ms: number) => ({ expiresAt: new Date(Date.now() + ms).toISOString() })
    const { deleted } = await follow([
      session('current', at(hour)),
      session('refreshed-no-more', at(-hour)),
      session('over', at(-3 * hour)),
      session('over-and-ended', { ...at(-3 * hour), ended: 'logout' }),
    ])
    await store.collect()
    const path = '/apis/iam.kapis.io/v1alpha2/loginsessions'
    expect(deleted).to.deep.equal([`${path}/over`, `${path}/over-and-ended`])
    await store.collect()
    expect(deleted).to.have.length(2)
  })
})

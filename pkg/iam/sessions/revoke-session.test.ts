import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { endBrowserSession, endLogin, endLoginsWithoutFactor, endOtherLogins } from './revoke-session.ts'
import { type Session, toSession } from './session.ts'

const stored = { metadata: { name: 's1', uid: '', resourceVersion: '100', creationTimestamp: '' } }
const login: Session = {
  ...toSession(stored),
  ...{
    user: 'alice',
    userUid: 'u1',
    userGeneration: 1,
    credential: 'c1',
    clientId: 'kapis',
    refreshId: 'r1',
  },
}

/** A session store whose first updates fail with a conflict. */
function store(initial: readonly Session[], conflicts = 0) {
  const sessions = new Map(initial.map(session => [session.sid, session]))
  return {
    endOf: (sid: string) => sessions.get(sid)?.ended,
    read: async (sid: string) => sessions.get(sid),
    list: async (user: string) => [...sessions.values()].filter(session => session.user === user),
    async update(session: Session) {
      if (conflicts-- > 0) return false
      sessions.set(session.sid, session)
      return true
    },
  }
}

describe('endLogin', () => {
  it('stores the reason, even if the session changes in the meantime', async () => {
    const sessions = store([login], 2)
    expect(await endLogin(sessions, login, 'logout')).to.equal(true)
    expect(sessions.endOf('s1')).to.equal('logout')
  })

  it('does not write a session that has ended or was deleted', async () => {
    const sessions = store([{ ...login, ended: 'deleted' }])
    expect(await endLogin(sessions, { ...login, ended: 'deleted' }, 'logout')).to.equal(false)
    expect(sessions.endOf('s1')).to.equal('deleted')
    expect(await endLogin(store([], 1), login, 'logout')).to.equal(false)
  })

  it('reports a failure', async () => {
    expect(await rejectedStatus(endLogin(store([login], 100), login, 'logout'))).to.include({ code: 503 })
  })
})

describe('endOtherLogins', () => {
  const rows: readonly [string, Partial<Session>, string][] = [
    ['an older login', { resourceVersion: '99' }, 'another login'],
    ['an older login with a shorter version', { resourceVersion: '9' }, 'another login'],
    [
      'an older login that was refreshed since',
      { resourceVersion: '101', previousRefreshId: 'r0' },
      'another login',
    ],
    ['a login that has just begun elsewhere, later than this one', { resourceVersion: '101' }, ''],
    ['a session of someone else', { user: 'bob' }, ''],
    ['a personal access token', { type: 'PersonalAccessToken' }, ''],
    ['the login of another browser', { type: 'Browser' }, 'another login'],
    ['the token of a client', { type: 'ClientCredentials' }, ''],
    ['a session that has ended', { ended: 'logout' }, 'logout'],
  ]
  for (const [what, changes, ended] of rows) {
    it(`leaves ${what} ${ended === '' ? 'unchanged' : `ended: ${ended}`}`, async () => {
      const sessions = store([login, { ...login, sid: 's2', resourceVersion: '50', ...changes }])
      await endOtherLogins(sessions, login)
      expect(sessions.endOf('s2')).to.equal(ended)
      expect(sessions.endOf('s1')).to.equal('')
    })
  }
})

describe('endBrowserSession', () => {
  const browser: Session = { ...login, sid: 'b2', type: 'Browser', clientId: '', browserSid: 'b1' }
  const rows: readonly [string, Partial<Session>, string][] = [
    ['a login that was made in it', { browserSid: 'b2' }, 'logout'],
    ['a session that continues the first session', { browserSid: 'b1' }, 'logout'],
    ['another session of the same user in this browser', { type: 'Browser', browserSid: 'b1' }, 'logout'],
    ['the first session of this user in this browser', { sid: 'b1', type: 'Browser' }, 'logout'],
    ['a session that has ended', { browserSid: 'b2', ended: 'deleted' }, 'deleted'],
    ['a session of another browser session', { browserSid: 'b9' }, ''],
    ['another browser session', { type: 'Browser' }, ''],
    ['a login without a browser', {}, ''],
    ['a personal access token', { type: 'PersonalAccessToken' }, ''],
    ['a session of another user', { user: 'bob', browserSid: 'b2' }, ''],
  ]
  for (const [what, changes, ended] of rows) {
    it(`leaves ${what} ${ended === '' ? 'unchanged' : `ended: ${ended}`}`, async () => {
      const other = { ...login, ...changes }
      const sessions = store([browser, other])
      await endBrowserSession(sessions, browser, 'logout')
      expect(sessions.endOf(other.sid)).to.equal(ended)
      expect(sessions.endOf('b2')).to.equal('logout')
    })
  }

  it('ends a session that is created in the meantime, and the browser session last', async () => {
    const sessions = store([browser, { ...login, browserSid: 'b2' }])
    const order: string[] = []
    const busy = {
      ...sessions,
      async update(session: Session) {
        if (order.length === 0) await sessions.update({ ...login, sid: 's2', browserSid: 'b2' })
        order.push(session.sid)
        return sessions.update(session)
      },
    }
    await endBrowserSession(busy, browser, 'logout')
    expect(order).to.deep.equal(['s1', 'b2', 's2'])
  })

  it('keeps the browser session when a session cannot be ended', async () => {
    const sessions = store([browser, { ...login, browserSid: 'b2' }], 5)
    expect(await rejectedStatus(endBrowserSession(sessions, browser, 'logout'))).to.include({ code: 503 })
    expect(sessions.endOf('b2')).to.equal('')
  })
})

describe('endLoginsWithoutFactor', () => {
  const browser: Session = { ...login, sid: 'b2', type: 'Browser', browserSid: 'b1', amr: 'pwd' }
  const why = 'a second factor was set up'
  const rows: readonly [string, Partial<Session>, string][] = [
    ['a session with only the password', { amr: 'pwd' }, why],
    ['a session of an earlier release', {}, why],
    ['a session of a provider with two factors of its own', { amr: 'mfa', provider: 'corp' }, why],
    ['another browser', { type: 'Browser', amr: 'pwd' }, why],
    ['a session with a factor', { amr: 'pwd otp mfa' }, ''],
    ['a session of the same browser', { browserSid: 'b2', amr: 'pwd' }, ''],
    ['an earlier session of the same browser', { sid: 'b1', type: 'Browser', amr: 'pwd' }, ''],
    ['a personal access token', { type: 'PersonalAccessToken' }, ''],
    ['an exchanged token, which ends with its session', { type: 'TokenExchange' }, ''],
    ['a session that has ended', { ended: 'logout' }, 'logout'],
    ['a session of another user', { user: 'bob' }, ''],
  ]
  for (const [what, changes, ended] of rows) {
    it(`leaves ${what} ${ended === '' ? 'unchanged' : `ended: ${ended}`}`, async () => {
      const other = { ...login, ...changes }
      const sessions = store([browser, other])
      await endLoginsWithoutFactor(sessions, 'alice', 'b2')
      expect(sessions.endOf(other.sid)).to.equal(ended)
      expect(sessions.endOf('b2')).to.equal('')
    })
  }

  it('exempts no browser in which the user was not logged in', async () => {
    const sessions = store([browser])
    await endLoginsWithoutFactor(sessions, 'alice', undefined)
    expect(sessions.endOf('b2')).to.equal(why)
  })
})

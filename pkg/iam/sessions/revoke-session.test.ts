import { expect } from 'chai'
import { rejectionOf } from '../../apierrors/fixtures.ts'
import { endLogin, endOtherLogins } from './revoke-session.ts'
import type { Session } from './session.ts'

const login: Session = {
  sid: 's1',
  resourceVersion: '100',
  type: '',
  displayName: '',
  createdAtMs: 0,
  user: 'alice',
  userUid: 'u1',
  userGeneration: 1,
  credential: 'c1',
  provider: '',
  clientId: 'kapis',
  scope: '',
  authenticatedAtMs: 0,
  refreshId: 'r1',
  parent: '',
  previousRefreshId: '',
  rotatedAtMs: 0,
  expiresAtMs: 0,
  ended: '',
}

/** Sessions whose first updates fail with a conflict. */
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
  it('writes down why, also when the login changes meanwhile', async () => {
    const sessions = store([login], 2)
    expect(await endLogin(sessions, login, 'logout')).to.equal(true)
    expect(sessions.endOf('s1')).to.equal('logout')
  })

  it('leaves alone what has ended or is gone', async () => {
    const sessions = store([{ ...login, ended: 'deleted' }])
    expect(await endLogin(sessions, { ...login, ended: 'deleted' }, 'logout')).to.equal(false)
    expect(sessions.endOf('s1')).to.equal('deleted')
    expect(await endLogin(store([], 1), login, 'logout')).to.equal(false)
  })

  it('says so when it cannot', async () => {
    expect(await rejectionOf(endLogin(store([login], 100), login, 'logout'))).to.include({ code: 503 })
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
    ['a login of someone else', { user: 'bob' }, ''],
    ['a personal access token', { type: 'PersonalAccessToken' }, ''],
    ['the login of another browser', { type: 'Browser' }, 'another login'],
    ['the token of a client', { type: 'ClientCredentials' }, ''],
    ['a login that has ended', { ended: 'logout' }, 'logout'],
  ]
  for (const [what, changes, ended] of rows) {
    it(`leaves ${what} ${ended === '' ? 'as it is' : `ended: ${ended}`}`, async () => {
      const sessions = store([login, { ...login, sid: 's2', resourceVersion: '50', ...changes }])
      await endOtherLogins(sessions, login)
      expect(sessions.endOf('s2')).to.equal(ended)
      expect(sessions.endOf('s1')).to.equal('')
    })
  }
})

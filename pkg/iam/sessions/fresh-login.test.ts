import { expect } from 'chai'
import { toUser } from '../users/user.ts'
import { isFreshLogin } from './fresh-login.ts'
import { toSession } from './session.ts'

const metadata = { name: 's', uid: 'u-1', resourceVersion: '1', creationTimestamp: '2031-01-01T00:00:00Z' }
const user = toUser({ metadata, spec: { credential: 'c' } })
const now = Date.parse('2031-01-01T00:10:00Z')
const spec = { user: 's', userUid: 'u-1', credential: 'c', authenticatedAt: '2031-01-01T00:00:00Z' }

describe('isFreshLogin', () => {
  const cases: readonly [string, object, number, boolean][] = [
    ['a session with the password', {}, now, true],
    ['an older session', {}, now + 1, false],
    ['a session from the future', {}, now - 660_001, false],
    ['a session with another password', { credential: 'd' }, now, false],
    ['a session without a password', { credential: '' }, now, false],
    ['a session of an identity provider', { provider: 'corp' }, now, false],
    ['a session of another user with the name', { userUid: 'u-2' }, now, false],
    ['a session that has ended', { ended: 'logout' }, now, false],
    ['a browser', { type: 'Browser' }, now, false],
    ['a personal access token', { type: 'PersonalAccessToken' }, now, false],
    ['an exchanged token', { type: 'TokenExchange' }, now, false],
    ['a session without a time', { authenticatedAt: undefined }, now, false],
  ]
  for (const [title, change, at, expected] of cases)
    it(`returns ${expected} for ${title}`, () =>
      expect(isFreshLogin(toSession({ metadata, spec: { ...spec, ...change } }), user, at)).to.equal(
        expected,
      ))
})

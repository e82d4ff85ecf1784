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
    ['a login with the password', {}, now, true],
    ['an older one', {}, now + 1, false],
    ['one from the future', {}, now - 660_001, false],
    ['one with another password', { credential: 'd' }, now, false],
    ['one without a password', { credential: '' }, now, false],
    ['one at a provider', { provider: 'corp' }, now, false],
    ['one of another user of the name', { userUid: 'u-2' }, now, false],
    ['one that has ended', { ended: 'logout' }, now, false],
    ['a browser', { type: 'Browser' }, now, false],
    ['a personal access token', { type: 'PersonalAccessToken' }, now, false],
    ['an exchanged token', { type: 'TokenExchange' }, now, false],
    ['one without a time', { authenticatedAt: undefined }, now, false],
  ]
  for (const [title, change, at, expected] of cases)
    it(`${title}: ${expected}`, () =>
      expect(isFreshLogin(toSession({ metadata, spec: { ...spec, ...change } }), user, at)).to.equal(
        expected,
      ))
})

import { expect } from 'chai'
import { memoryClient } from '../memory-fixtures.ts'
import { lifetimesOf } from './lifetimes.ts'

const defaults = { accessTokenSeconds: 7200, refreshTokenSeconds: 14_400, loginMaxAgeSeconds: 86_400 }

describe('lifetimesOf', () => {
  const rows: readonly [string, object, number, readonly [number, number, number]][] = [
    ['a client without lifetimes', {}, 0, [7200, 14_400, 86_400]],
    ['short access tokens', { accessTokenMaxAgeSeconds: 60 }, 0, [60, 14_400, 86_400]],
    [
      'access tokens longer than a refresh token',
      { accessTokenMaxAgeSeconds: 20_000 },
      0,
      [20_000, 20_000, 86_400],
    ],
    [
      'a client with its own inactivity limit',
      { accessTokenInactivityTimeoutSeconds: 600 },
      0,
      [7200, 7800, 86_400],
    ],
    [
      'a client without an inactivity limit',
      { accessTokenInactivityTimeoutSeconds: 0 },
      0,
      [7200, 7200, 86_400],
    ],
    ['a session shorter than a token', { loginMaxAgeSeconds: 100 }, 0, [100, 100, 100]],
    ['a session close to its end', {}, 86_000.5, [399, 399, 399]],
    ['a session that has ended', {}, 90_000, [-3600, -3600, -3600]],
  ]
  for (const [what, changes, age, [access, refresh, login]] of rows) {
    it(`returns the lifetimes of ${what}`, () => {
      expect(lifetimesOf(memoryClient('a', changes), defaults, age)).to.deep.equal({
        accessTokenSeconds: access,
        refreshTokenSeconds: refresh,
        loginMaxAgeSeconds: login,
      })
    })
  }
})

import { expect } from 'chai'
import { defaults } from './fixtures.ts'
import { differences, flatten, toLive } from './live.ts'

describe('toLive', () => {
  it('has members of the configuration, and no other', () => {
    const all = flatten(defaults)
    for (const [path, value] of flatten(toLive(defaults))) expect(all.get(path), path).to.equal(value)
  })

  it('has nothing that listeners, stores, keys or other replicas were built of', () => {
    expect([...flatten(toLive(defaults)).keys()]).to.deep.equal([
      'listen.trustedProxies',
      'cache.idleSeconds',
      'cache.maxMegabytes',
      'authentication.multipleLogin',
      'limits.requestsInFlight',
      'limits.mutatingRequestsInFlight',
      'limits.longRunningRequests',
      'limits.requestSeconds',
      'limits.stallSeconds',
      'accessLog',
      'logs.queryTimeoutSeconds',
      'logs.exportLimit',
      'logLevel',
      'shutdownDelaySeconds',
    ])
  })
})

describe('differences', () => {
  const cases: readonly [string, object, object, readonly string[]][] = [
    ['nothing', { a: 1, b: { c: [1] } }, { a: 1, b: { c: [1] } }, []],
    ['a value', { a: 1, b: 2 }, { a: 2, b: 2 }, ['a']],
    ['one within', { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, ['a.b.c']],
    ['a list, as one', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, ['a']],
    ['what has come and gone', { a: 1 }, { b: 1 }, ['a', 'b']],
    ['a number and its text', { a: 1 }, { a: '1' }, ['a']],
  ]
  for (const [what, before, after, expected] of cases) {
    it(`finds ${what}`, () => {
      expect(differences(before, after)).to.deep.equal(expected)
    })
  }
})

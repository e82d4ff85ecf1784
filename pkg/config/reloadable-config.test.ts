import { expect } from 'chai'
import { parseConfig } from './config.ts'
import { applyReloadable, differences, reloadablePaths } from './reloadable-config.ts'

describe('reloadablePaths', () => {
  it('contains no option from which listeners, stores, keys or other replicas are built', () => {
    expect([...reloadablePaths()]).to.deep.equal([
      'listen.trustedProxies',
      'cache.idleSeconds',
      'cache.maxMegabytes',
      'cache.platformReads',
      'cache.clusterLists',
      'authentication.multipleLogin',
      'authentication.secondFactorGroups',
      'limits.requestsInFlight',
      'limits.mutatingRequestsInFlight',
      'limits.longRunningRequests',
      'limits.connections',
      'limits.requestSeconds',
      'limits.stallSeconds',
      'accessLog',
      'logs.queryTimeoutSeconds',
      'logs.exportLimit',
      'logs.recordings.policies',
      'logs.recordings.maxMegabytes',
      'logLevel',
      'shutdownDelaySeconds',
    ])
  })
})

describe('applyReloadable', () => {
  it('returns the new values of reloadable options, and the initial values of all others', () => {
    const { config: started } = parseConfig({})
    const { config: next } = parseConfig({
      groupDomain: 'example.org',
      listen: { port: 1, trustedProxies: ['10.0.0.1'] },
      limits: { stallSeconds: 5, headersSeconds: 5 },
      logs: { exportLimit: 7, embedded: { folder: '/elsewhere' } },
    })
    const { config: expected } = parseConfig({
      listen: { trustedProxies: ['10.0.0.1'] },
      limits: { stallSeconds: 5 },
      logs: { exportLimit: 7 },
    })
    expect(applyReloadable(started, next)).to.deep.equal(expected)
  })
})

describe('differences', () => {
  const cases: readonly [string, object, object, readonly string[]][] = [
    ['nothing', { a: 1, b: { c: [1] } }, { a: 1, b: { c: [1] } }, []],
    ['a value', { a: 1, b: 2 }, { a: 2, b: 2 }, ['a']],
    ['a difference in a nested object', { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, ['a.b.c']],
    ['a list, as a whole', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, ['a']],
    ['options that were added and removed', { a: 1 }, { b: 1 }, ['a', 'b']],
    ['a number that became a string', { a: 1 }, { a: '1' }, ['a']],
  ]
  for (const [what, before, after, expected] of cases) {
    it(`finds ${what}`, () => {
      expect(differences(before, after)).to.deep.equal(expected)
    })
  }
})

import { expect } from 'chai'
import { defaults } from '../../../config/fixtures.ts'
import { featuresOf } from './features.ts'

describe('featuresOf', () => {
  type Settings = {
    readonly store: 'none' | 'embedded' | 'opensearch'
    readonly off?: string
    readonly path?: string
  }
  const cases: readonly (readonly [Settings, readonly string[]])[] = [
    [{ store: 'none' }, []],
    [{ store: 'none', path: '-' }, []],
    [{ store: 'embedded' }, ['logging', 'events']],
    [{ store: 'opensearch' }, ['logging', 'events']],
    [{ store: 'embedded', off: 'events' }, ['logging']],
    [{ store: 'embedded', path: '-' }, ['logging', 'events', 'auditing']],
    [{ store: 'opensearch', path: '/var/log/kapis/audit.log' }, ['logging', 'events', 'auditing']],
    [{ store: 'embedded', path: '-', off: 'auditing' }, ['logging', 'events']],
  ]
  for (const [{ store, off, path = '' }, optional] of cases) {
    it(`depends on store ${store}, audit.path ${path || 'empty'}${off ? `, no ${off}` : ''}`, () => {
      const { events, auditing } = defaults.logs
      const logs = {
        ...defaults.logs,
        store,
        events: { ...events, enabled: off !== 'events' },
        auditing: { ...auditing, enabled: off !== 'auditing' },
      }
      expect([...featuresOf({ ...defaults, logs, audit: { ...defaults.audit, path } })]).to.deep.equal([
        'authentication',
        'authorization',
        'kubernetes',
        ...optional,
      ])
    })
  }

  it('never contains multicluster, for which consoles need workspaces on several clusters', () => {
    const config = { ...defaults, multicluster: { enabled: true } }
    expect([...featuresOf(config)]).to.not.include('multicluster')
  })
})

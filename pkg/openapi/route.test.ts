import { expect } from 'chai'
import { findRoute } from './route.ts'

describe('findRoute', () => {
  const templates = [
    '/users',
    '/users/{user}',
    '/users/{user}/status',
    '/ingest/v1/logs',
    '/ingest/{index}/_bulk',
  ]
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['/users', '/users'],
    ['/users/a', '/users/{user}'],
    ['/users/status/status', '/users/{user}/status'],
    ['/users/a/b', undefined],
    ['/users/', undefined],
    ['/ingest/v1/logs', '/ingest/v1/logs'],
    ['/ingest/v1/_bulk', '/ingest/{index}/_bulk'],
    ['/', undefined],
  ]
  for (const [path, template] of cases)
    it(`matches ${path} with ${template}`, () =>
      expect(findRoute(templates, path.split('/').slice(1))).to.equal(template))

  it('prefers the literal template', () => {
    const both = ['/{resource}', '/components', '/{resource}/{name}', '/components/{component}'] as const
    expect(findRoute(both, ['components'])).to.equal('/components')
    expect(findRoute(both, ['components', 'x'])).to.equal('/components/{component}')
    expect(findRoute(both, ['pods', 'x'])).to.equal('/{resource}/{name}')
  })
})

import { expect } from 'chai'
import type { Entry } from './entry.ts'
import { entry } from './fixtures.ts'
import { byKey, toOrder } from './order.ts'

const inNamespace = (namespace: string, name: string, created: string) =>
  entry(name, { created, meta: { namespace } })
const entries: readonly Entry[] = [
  inNamespace('x', 'a', '2031-01-02T00:00:00Z'),
  inNamespace('y', 'a', '2031-01-01T00:00:00Z'),
  inNamespace('x', 'b', '2031-01-01T00:00:00Z'),
  inNamespace('y', 'b', '2030-12-31T23:59:59Z'),
]

describe('toOrder', () => {
  const table: readonly [string, (a: Entry, b: Entry) => number, readonly string[]][] = [
    ['key', byKey, ['x/a', 'x/b', 'y/a', 'y/b']],
    ['name, then namespace', toOrder('name').compare, ['x/a', 'y/a', 'x/b', 'y/b']],
    ['creation time, then namespace, then name', toOrder('createTime').compare, ['y/b', 'x/b', 'y/a', 'x/a']],
    [
      'creation time under its other name',
      toOrder('creationTimestamp').compare,
      ['y/b', 'x/b', 'y/a', 'x/a'],
    ],
  ]
  for (const [what, order, expected] of table) {
    it(`is by ${what}`, () => {
      expect([...entries].sort(order).map(({ key }) => key)).to.deep.equal(expected)
      expect(
        entries
          .toReversed()
          .sort(order)
          .map(({ key }) => key),
      ).to.deep.equal(expected)
    })
  }
})

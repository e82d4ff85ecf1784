import { expect } from 'chai'
import { entry, servedNodes } from '../fixtures.ts'
import { CachedObject } from '../store/cached-object.ts'
import { byKey, toOrder } from './order.ts'

const inNamespace = (namespace: string, name: string, created: string) =>
  entry(name, { created, meta: { namespace } })
const entries: readonly CachedObject[] = [
  inNamespace('x', 'a', '2031-01-02T00:00:00Z'),
  inNamespace('y', 'a', '2031-01-01T00:00:00Z'),
  inNamespace('x', 'b', '2031-01-01T00:00:00Z'),
  inNamespace('y', 'b', '2030-12-31T23:59:59Z'),
]

describe('toOrder', () => {
  const table: readonly [string, (a: CachedObject, b: CachedObject) => number, readonly string[]][] = [
    ['key', byKey, ['x/a', 'x/b', 'y/a', 'y/b']],
    ['name, then namespace', toOrder('name').compare, ['x/a', 'y/a', 'x/b', 'y/b']],
    ['creation time, then namespace, then name', toOrder('createTime').compare, ['y/b', 'x/b', 'y/a', 'x/a']],
    ['creation time under its alias', toOrder('creationTimestamp').compare, ['y/b', 'x/b', 'y/a', 'x/a']],
  ]
  const several: readonly [string, readonly string[]][] = [
    ['name,createTime', ['y/a', 'x/a', 'y/b', 'x/b']],
    ['-name,createTime', ['y/b', 'x/b', 'y/a', 'x/a']],
    ['name,-createTime', ['x/a', 'y/a', 'x/b', 'y/b']],
    ['-name', ['x/b', 'y/b', 'x/a', 'y/a']],
    ['-createTime,.metadata.namespace', ['x/a', 'x/b', 'y/a', 'y/b']],
    ['-.metadata.namespace,-name', ['y/b', 'y/a', 'x/b', 'x/a']],
    ['-namespace,name', ['y/a', 'y/b', 'x/a', 'x/b']],
  ]
  for (const [sortBy, expected] of several) {
    it(`sorts by ${sortBy}`, () => {
      const { compare } = toOrder(sortBy)
      for (const given of [entries, entries.toReversed()])
        expect([...given].sort(compare).map(({ key }) => key)).to.deep.equal(expected)
    })
  }

  it('has another cache key for another direction or order of fields', () => {
    const keys = ['name', '-name', 'name,status', 'status,name', 'name,-status', '-name,status']
    expect(new Set(keys.map(sortBy => toOrder(sortBy).key)).size).to.equal(keys.length)
    expect(toOrder('createTime,name').key).to.equal(toOrder('creationTimestamp,name').key)
  })

  it('sorts by up to four fields', () => {
    for (const sortBy of ['name,size', '--name', 'name,', ',', '-', 'name,name,name,name,name'])
      expect(() => toOrder(sortBy), sortBy).to.throw(/sortBy/)
  })

  for (const [what, order, expected] of table) {
    it(`sorts by ${what}`, () => {
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

describe('toOrder of a path', () => {
  const withSpec = (name: string, spec: string) => {
    const json = `{"metadata":{"name":"${name}","uid":"u","resourceVersion":"1","creationTimestamp":""},"spec":${spec}}`
    return CachedObject.from(servedNodes, JSON.parse(json), json)
  }
  it('is exact for numbers of any size', () => {
    const ascending = [
      ...[
        '{}',
        '{"n":null}',
        '{"n":-9223372036854775808}',
        '{"n":-9007199254740993}',
        '{"n":-0.5}',
        '{"n":1e-7}',
      ],
      ...['{"n":"1n"}', '{"n":1.0}', '{"n":"1Ki"}', '{"n":9007199254740992}', '{"n":9007199254740993}'],
      ...[
        '{"n":9007199254740994.0}',
        '{"n":9223372036854775806}',
        '{"n":9223372036854775807}',
        '{"n":1e300}',
      ],
      ...['{"n":[1]}', '{"n":"a"}', '{"n":{}}'],
    ].map((spec, i) => withSpec(`n${i < 2 ? i : 20 - i}`, spec.replace('1e-7', '"0.1n"')))
    const { compare } = toOrder('.spec.n')
    const sorted = ascending.toReversed().sort(compare)
    expect(sorted.map(({ tail }) => tail.toString())).to.deep.equal(
      ascending.map(({ tail }) => tail.toString()),
    )
  })

  it('does not convert values that are longer than a number', () => {
    const [short, long] = [withSpec('a', '{"n":1}'), withSpec('b', `{"n":"${'9'.repeat(900_000)}"}`)]
    expect(toOrder('.spec.n').compare(short, long)).to.be.below(0)
  })
})

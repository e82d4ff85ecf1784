import { expect } from 'chai'
import { findPaths, type Steps } from './path.ts'

const json =
  '{"metadata":{"name":"a","labels":{"a.b/c":"\\u003c"}},"spec":{"list":[{"x":1},{"y":[{"p":1.0}]}],"n":9007199254740993,"zero":0,"off":false,"none":null},"n":1,"n":2,"__proto__":3}'

describe('findPaths', () => {
  const table: readonly [Steps, string | undefined][] = [
    [[], json],
    [['metadata', 'name'], '"a"'],
    [['metadata', 'labels', 'a.b/c'], '"\\u003c"'],
    [['metadata', '*'], '"a"'],
    [['spec', 'list', 1, 'y', 0, 'p'], '1.0'],
    [['spec', 'list', '*', 'y'], '[{"p":1.0}]'],
    [['spec', 'list', 9], undefined],
    [['spec', 'list', 'x'], undefined],
    [['spec', 'list', 'length'], undefined],
    [['spec', 0], undefined],
    [['spec', 'n'], '9007199254740993'],
    [['spec', 'zero'], '0'],
    [['spec', 'off'], 'false'],
    [['spec', 'none'], 'null'],
    [['spec', 'none', 'more'], undefined],
    [['metadata', 'name', 0], undefined],
    [['n'], '2'],
    [['__proto__'], '3'],
    [['constructor'], undefined],
  ]
  for (const [steps, expected] of table) {
    it(`follows ${JSON.stringify(steps)}`, () => expect(findPaths(json, [steps])).to.deep.equal([expected]))
  }

  it('finds several paths together as it finds each alone', () => {
    const more: readonly Steps[] = [['*'], ['*', '*'], ['spec', '*', '*', 'y'], ['spec', 'list', 1], ['n']]
    const paths = [...table.map(([steps]) => steps), ...more, ...more]
    expect(findPaths(json, paths)).to.deep.equal(paths.flatMap(steps => findPaths(json, [steps])))
  })

  it('scans a text of megabytes once, for any number of paths', () => {
    const large = `{"spec":{"a":[${'"",'.repeat(500_000)}""]}}`
    const timeOf = (paths: readonly Steps[]) => {
      const startedAt = process.threadCpuUsage()
      findPaths(large, paths)
      return process.threadCpuUsage(startedAt).user / 1_000
    }
    const paths = Array.from({ length: 32 }, (_, i): Steps => ['spec', 'a', i + 1_000_000, `m${i}`])
    timeOf(paths)
    expect(timeOf(paths)).to.be.below(8 * timeOf(paths.slice(0, 1)) + 50)
  })
})

import { expect } from 'chai'
import { findPath, type Steps } from './path.ts'

const json =
  '{"metadata":{"name":"a","labels":{"a.b/c":"\\u003c"}},"spec":{"list":[{"x":1},{"y":[{"p":1.0}]}],"n":9007199254740993,"zero":0,"off":false,"none":null},"n":1,"n":2,"__proto__":3}'

describe('findPath', () => {
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
    it(`follows ${JSON.stringify(steps)}`, () => expect(findPath(json, steps)).to.equal(expected))
  }
})

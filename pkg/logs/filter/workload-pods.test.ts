import { expect } from 'chai'
import { isPodOf } from './workload-pods.ts'

describe('isPodOf', () => {
  const long = 'a'.repeat(50)
  const rows: readonly [string, string, boolean][] = [
    ['web', 'web', true],
    ['web', 'web-5d9c7b8f6-x2x4z', true],
    ['web', 'web-0', true],
    ['web', 'web-12', true],
    ['web', 'web-x2x4z', true],
    ['web', 'web-api-5d9c7b8f6-x2x4z', false],
    ['web', 'webs-0', false],
    ['web', 'web-', false],
    ['web', 'my-web-0', false],
    ['w.b', 'wxb-0', false],
    [long, `${long}-5d9c7b8f`.slice(0, 58).concat('x2x4z'), true],
    ['b'.repeat(60), `${'b'.repeat(58)}x2x4z`, true],
    ['c'.repeat(60), `${'b'.repeat(58)}x2x4z`, false],
  ]
  for (const [workload, pod, expected] of rows) {
    it(`${pod} ${expected ? 'belongs' : 'does not belong'} to ${workload}`, () =>
      expect(isPodOf(workload, pod)).to.equal(expected))
  }
})

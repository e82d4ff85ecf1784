import { expect } from 'chai'
import { mergePatch } from './merge-patch.ts'

describe('mergePatch', () => {
  // The examples of RFC 7396, appendix A.
  const rows: readonly [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  for (const [target, patch, expected] of rows) {
    it(`merges ${JSON.stringify(patch)} into ${JSON.stringify(target)}`, () => {
      expect(mergePatch(target, patch)).to.deep.equal(expected)
    })
  }

  it('does not change Object.prototype', () => {
    mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}'))
    expect({}).to.not.have.property('polluted')
  })
})

import { expect } from 'chai'
import type { Expression } from '../filter/expression.ts'
import { parseRegex } from './parse.ts'
import { requiredTexts } from './required-literals.ts'

const contains = (text: string, caseSensitive = false): Expression => ({
  op: 'match',
  field: 'log',
  test: { kind: 'contains', text, caseSensitive },
})

function required(source: string, caseSensitive: boolean): Expression | undefined {
  const node = parseRegex(source)
  if (node === undefined) throw new Error(`cannot parse ${source}`)
  return requiredTexts(node, caseSensitive)
}

describe('requiredTexts', () => {
  const rows: readonly [string, Expression | undefined][] = [
    ['', undefined],
    ['abc', contains('abc')],
    ['^abc$', contains('abc')],
    ['ab+c', { op: 'and', operands: [contains('a'), contains('b'), contains('c')] }],
    ['ab*cd', { op: 'and', operands: [contains('a'), contains('cd')] }],
    ['a(bc)d', contains('abcd')],
    ['code=\\d+ms', { op: 'and', operands: [contains('code='), contains('ms')] }],
    [
      'x(ab|cd)',
      { op: 'and', operands: [contains('x'), { op: 'or', operands: [contains('ab'), contains('cd')] }] },
    ],
    ['ab|cd*', { op: 'or', operands: [contains('ab'), contains('c')] }],
    ['ab|.*', undefined],
  ]
  for (const [source, expected] of rows) {
    it(`of /${source}/ are those of every match`, () =>
      expect(required(source, false)).to.deep.equal(expected))
  }

  it('preserve case if the expression is case-sensitive, and otherwise have one form of letters beyond ASCII', () => {
    expect(required('Größe', true)).to.deep.equal(contains('Größe', true))
    expect(required('Größe', false)).to.deep.equal({ op: 'and', operands: [contains('Gr'), contains('e')] })
    expect(required('失败=1', false)).to.deep.equal(contains('失败=1'))
  })
})

import { expect } from 'chai'
import type { Expression } from '../expression.ts'
import { requiredTexts } from './required.ts'
import { parseRegex } from './syntax.ts'

const contains = (text: string): Expression => ({
  op: 'match',
  field: 'log',
  test: { kind: 'contains', text, caseSensitive: false },
})

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
    it(`of /${source}/`, () => expect(requiredTexts(parseRegex(source))).to.deep.equal(expected))
  }
})

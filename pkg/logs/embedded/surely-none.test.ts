import { expect } from 'chai'
import { type Expression, match } from '../expression.ts'
import { linesOf, segmentOf } from './lines-fixtures.ts'
import { createPieceCache } from './piece-cache.ts'
import { isSurelyNone } from './surely-none.ts'

const words = (...list: readonly string[]) => match('log', { kind: 'words', words: list, prefix: false })
const open = (...list: readonly string[]) => match('log', { kind: 'words', words: list, prefix: true })
const and = (...operands: readonly Expression[]): Expression => ({ op: 'and', operands })
const or = (...operands: readonly Expression[]): Expression => ({ op: 'or', operands })
const not = (operand: Expression): Expression => ({ op: 'not', operand })

describe('isSurelyNone', () => {
  const known = ['error', 'größe', 'x'.repeat(64)]
  const filters = { mayHave: (_: string, word: Uint8Array) => known.includes(Buffer.from(word).toString()) }
  const segment = segmentOf(linesOf(['error']), { cache: createPieceCache(0), filters })
  const cases: readonly (readonly [string, Expression, boolean])[] = [
    ['a word that it may have', words('error'), false],
    ['the same in other letters', words('ERROR'), false],
    ['one that is not of ASCII', words('Größe'), false],
    ['one that is longer than what is kept of it', words('x'.repeat(70)), false],
    ['a word that it has not', words('absent'), true],
    ['words of which it has one', words('error', 'absent'), true],
    ['no word', words(), false],
    ['the beginning of a word', open('absent'), false],
    ['a word, and the beginning of one', open('absent', 'err'), true],
    ['a part', match('log', { kind: 'contains', text: 'absent', caseSensitive: false }), false],
    ['another field', match('pod', { kind: 'in', values: ['absent'] }), false],
    ['two of which it lacks one', and(words('error'), words('absent')), true],
    ['one of two, and it lacks one', or(words('error'), words('absent')), false],
    ['one of two, and it lacks both', or(words('absent'), words('never')), true],
    ['what is not', not(words('absent')), false],
    ['one of those, within', and(words('error'), or(words('absent'), and(words('x'), words('error')))), true],
  ]
  for (const [what, expression, wanted] of cases) {
    it(`${what}: ${wanted}`, () => {
      expect(isSurelyNone(segment, expression)).to.equal(wanted)
    })
  }

  it('is not so where nothing is known of its words', () => {
    expect(isSurelyNone({ dictionary: undefined }, words('absent'))).to.equal(false)
    const without = segmentOf(linesOf(['error']), { cache: createPieceCache(0) })
    expect(isSurelyNone(without, words('absent'))).to.equal(false)
  })
})

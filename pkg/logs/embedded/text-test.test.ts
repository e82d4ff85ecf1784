import { expect } from 'chai'
import fc from 'fast-check'
import type { Test } from '../expression.ts'
import { createTest } from '../matcher.ts'
import { createTextTest } from './text-test.ts'

describe('createTextTest', () => {
  it('agrees with createTest, whatever the text', () => {
    const unit = fc.constantFrom('a', 'b', 'A', '1', ' ', '-', '_', 'é', '失', '😀')
    const text = fc.string({ unit, maxLength: 12 })
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '1', 'é'), minLength: 1, maxLength: 2 })
    const test: fc.Arbitrary<Test> = fc.oneof(
      fc.record({
        kind: fc.constant('words' as const),
        words: fc.array(word, { maxLength: 3 }),
        prefix: fc.boolean(),
      }),
      fc.record({
        kind: fc.constant('contains' as const),
        text: fc.string({ unit, maxLength: 3 }),
        caseSensitive: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(test, text, (wanted, line) => {
        expect(createTextTest(wanted)(Buffer.from(line))).to.equal(createTest(wanted)(line))
      }),
      { numRuns: 3000, seed: 8 },
    )
  })
})

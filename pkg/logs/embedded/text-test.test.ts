import { expect } from 'chai'
import fc from 'fast-check'
import type { Test } from '../expression.ts'
import { createTest } from '../matcher.ts'
import { createTextTest } from './text-test.ts'

describe('createTextTest', () => {
  it('agrees with createTest, whatever the text and what lies beside it', () => {
    const unit = fc.constantFrom(
      'a',
      'b',
      'A',
      '1',
      ' ',
      '-',
      '_',
      '\n',
      'é',
      '失',
      '😀',
      'k',
      'K',
      '\u212a',
      'İ',
      'À',
    )
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
      fc.record({
        kind: fc.constant('regex' as const),
        source: fc.constantFrom(
          '^a',
          'b$',
          '\\bB',
          '[é失].',
          'a.b',
          '\\W{2}',
          '^$',
          '.{3}$',
          '\\n$',
          '[^a]1|😀$',
        ),
        caseSensitive: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(test, fc.array(text, { maxLength: 5 }), (wanted, lines) => {
        const parts = lines.map(line => Buffer.from(line))
        const bytes = Buffer.concat(parts)
        const passes = createTextTest(wanted)
        let end = 0
        const found = parts.map(({ length }) => {
          end += length
          return passes(bytes, end - length, end)
        })
        expect(found).to.deep.equal(lines.map(createTest(wanted)))
      }),
      { numRuns: 3000, seed: 8 },
    )
  })

  it('agrees with it where texts are many and long', () => {
    const lines = Array.from(
      { length: 3000 },
      (_, i) => `${i} ${'-'.repeat(i % 97)}Ab ${i % 7 === 0 ? 'aB é' : ''}`,
    )
    lines.splice(1500, 0, `${'x'.repeat(100_000)}AB`, '', `ab${'x'.repeat(70_000)}`)
    const parts = lines.map(line => Buffer.from(line))
    const bytes = Buffer.concat(parts)
    const starts = [0]
    for (const { length } of parts) starts.push((starts.at(-1) ?? 0) + length)
    const orders = {
      forwards: lines.map((_, i) => i),
      backwards: lines.map((_, i) => lines.length - 1 - i),
      some: lines.map((_, i) => (i * 7919) % lines.length),
    }
    for (const text of ['ab', 'ab a', '99', 'b é', 'no']) {
      for (const caseSensitive of [true, false]) {
        const test: Test = { kind: 'contains', text, caseSensitive }
        for (const [name, order] of Object.entries(orders)) {
          const passes = createTextTest(test)
          const found = order.map(i => passes(bytes, starts[i] ?? 0, starts[i + 1] ?? 0))
          const wanted = order.map(i => createTest(test)(lines[i] ?? ''))
          expect(found, `${JSON.stringify(test)} ${name}`).to.deep.equal(wanted)
        }
      }
    }
  })
})

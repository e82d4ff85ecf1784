import { expect } from 'chai'
import fc from 'fast-check'
import { mergeTexts } from './merge.ts'

describe('mergeTexts', () => {
  it('keeps together what all have, and what some have apart', () => {
    const texts = new Map([
      ['a', 'one\ntwo\nfour'],
      ['b', 'one\nthree\nfour'],
      ['c', 'one\nthree\nfour\nfive'],
    ])
    const blocks = mergeTexts(texts).map(({ lines, variants }) => [lines, [...variants].sort()])
    expect(blocks).to.deep.equal([
      [['one'], ['a', 'b', 'c']],
      [['two'], ['a']],
      [['three'], ['b', 'c']],
      [['four'], ['a', 'b', 'c']],
      [['five'], ['c']],
    ])
  })

  it('gives every text back', () => {
    const text = fc.array(fc.constantFrom('p', 'q', 'r'), { minLength: 1 }).map(lines => lines.join('\n'))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), list => {
        const texts = new Map(list.map((content, index) => [`v${index}`, content]))
        const blocks = mergeTexts(texts)
        for (const [variant, content] of texts) {
          const own = blocks.filter(block => block.variants.has(variant)).flatMap(({ lines }) => lines)
          expect(own.join('\n')).to.equal(content)
        }
      }),
    )
  })
})

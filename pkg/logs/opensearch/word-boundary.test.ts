import { expect } from 'chai'
import { wordRole } from '../filter/words.ts'
import { wordSeparators } from './word-boundary.ts'

describe('wordSeparators', () => {
  const isBeside = (code: number) => wordSeparators.some(([low, high]) => low <= code && code <= high)

  it('contains no character of a word', () => {
    const wrong: number[] = []
    for (const [low, high] of wordSeparators) {
      for (let code = low; code <= high; code++) if (wordRole(code) === 'part') wrong.push(code)
    }
    expect(wrong).to.deep.equal([])
  })

  it('contains ASCII and the separators of most languages', () => {
    for (let code = 0; code < 0x80; code++)
      expect(isBeside(code), String(code)).to.equal(wordRole(code) === 'none')
    for (const character of '«»¿¡…–—“”‘’„•→✓│─。、，：！？「」【】（）؟،।连ひ€№😀')
      expect(isBeside(character.codePointAt(0) ?? 0), character).to.equal(true)
  })

  it('is sorted, without overlaps', () => {
    const ends = wordSeparators.flat()
    expect(ends.toSorted((a, b) => a - b)).to.deep.equal(ends)
  })
})

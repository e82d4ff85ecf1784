import { expect } from 'chai'
import { createPieceCache } from './piece-cache.ts'

describe('createPieceCache', () => {
  const keep = (cache: ReturnType<typeof createPieceCache>, ...keys: string[]) => {
    for (const key of keys) cache.keep(key, { key }, 10)
  }
  const known = (cache: ReturnType<typeof createPieceCache>, keys: string) =>
    [...keys].filter(key => cache.find(key) !== undefined).join('')

  it('lets go of what was unused for longest when there is no more room', () => {
    const cache = createPieceCache(55)
    keep(cache, 'a', 'b', 'c', 'd', 'e')
    expect(cache.find('a')).to.deep.equal({ key: 'a' })
    keep(cache, 'f', 'g')
    expect(known(cache, 'abcdefg')).to.equal('adefg')
  })

  it('goes on doing so when all of it was let go of meanwhile', () => {
    const cache = createPieceCache(50)
    for (let round = 0; round < 3; round += 1) {
      keep(cache, 'a', 'b', 'c', 'd', 'e', 'f', 'g')
      expect(known(cache, 'abcdefg')).to.equal('cdefg')
      cache.forget('')
      expect(known(cache, 'abcdefg')).to.equal('')
    }
  })

  it('keeps under the same key what came last, and counts it once', () => {
    const cache = createPieceCache(50)
    for (let round = 0; round < 10; round += 1) keep(cache, 'a', 'b')
    keep(cache, 'c', 'd', 'e')
    expect(known(cache, 'abcde')).to.equal('abcde')
  })

  it('does not take what is a large part of all there is room for', () => {
    const cache = createPieceCache(50)
    keep(cache, 'a')
    cache.keep('large', {}, 13)
    expect(known(cache, 'a')).to.equal('a')
    expect(cache.find('large')).to.equal(undefined)
  })

  it('makes what it does not have once, and what passes through only takes the room that is left', () => {
    const cache = createPieceCache(60)
    let made = 0
    const get = (key: string, isPassing: boolean) =>
      cache.get(
        key,
        () => {
          made += 1
          return { key }
        },
        () => 10,
        isPassing,
      )
    for (const key of 'abcdabcd') get(key, false)
    expect(made).to.equal(4)
    for (const key of 'efghefgh') get(key, true)
    expect(made).to.equal(4 + 1 + 3 + 3)
    expect(known(cache, 'abcdefgh')).to.equal('abcde')
    expect(['d', 'e', 'f'].map(cache.has)).to.deep.equal([true, true, false])
  })

  it('does not give to what passes through the room that was made for others', () => {
    const cache = createPieceCache(80)
    for (const key of 'abcdefghi') keep(cache, key)
    expect(known(cache, 'abcdefghi')).to.equal('cdefghi')
    for (const key of 'xyz')
      cache.get(
        key,
        () => ({ key }),
        () => 10,
        true,
      )
    keep(cache, 'j')
    expect(known(cache, 'cdefghijxyz')).to.equal('cdefghij')
  })
})

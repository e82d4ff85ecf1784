import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createBoundedCache, toCacheKey } from './bounded-cache.ts'

describe('createBoundedCache', () => {
  const start = (maxBytes: number) => createBoundedCache<string>({ maxBytes, sizeOf: value => value.length })

  it('evicts the least recently used entry when it is full', () => {
    const cache = start(3_000)
    for (const key of ['a', 'b']) cache.set(key, key.repeat(1_000))
    cache.get('a')
    cache.set('c', 'c'.repeat(1_000))
    expect(['a', 'b', 'c'].map(key => cache.get(key)?.length)).to.deep.equal([1_000, undefined, 1_000])
    expect(cache.bytes()).to.be.within(2_000, 3_000)
  })

  it('does not store an entry larger than the cache, and evicts nothing for it', () => {
    const cache = start(1_000)
    cache.set('small', 'x')
    cache.set('large', 'x'.repeat(1_000))
    expect([cache.get('small'), cache.get('large')]).to.deep.equal(['x', undefined])
  })

  it('counts the given size in addition to the value', () => {
    const cache = start(100_000)
    for (let i = 0; i < 10_000; i++) cache.set(`key ${i}`, '')
    expect(cache.bytes()).to.be.at.most(100_000)
  })

  it('accepts a time to live per value', async () => {
    const cache = start(1_000)
    cache.set('brief', 'x', 20)
    cache.set('long', 'x')
    expect(cache.get('brief')).to.equal('x')
    await sleep(40)
    expect([cache.get('brief'), cache.get('long')]).to.deep.equal([undefined, 'x'])
  })

  it('uses the given clock, and removes expired entries', () => {
    let nowMs = 0
    const cache = createBoundedCache<string>({ maxBytes: 10_000, sizeOf: () => 1, now: () => nowMs })
    cache.set('a', 'x', 100)
    cache.set('over', 'x', 100)
    cache.set('over', 'x', -1)
    expect([cache.get('a'), cache.get('over')]).to.deep.equal(['x', undefined])
    nowMs = 101
    expect(cache.get('a')).to.equal(undefined)
  })

  it('limits the number of entries', () => {
    const cache = createBoundedCache<string>({ maxBytes: 10_000, sizeOf: () => 1, maxEntries: 2 })
    for (const key of ['a', 'b', 'c']) cache.set(key, key)
    expect(['a', 'b', 'c'].map(key => cache.get(key))).to.deep.equal([undefined, 'b', 'c'])
  })

  it('replaces, deletes and clears entries', () => {
    const cache = start(10_000)
    cache.set('a', '1')
    cache.set('a', '2')
    expect(cache.get('a')).to.equal('2')
    cache.delete('a')
    expect(cache.get('a')).to.equal(undefined)
    cache.set('b', '1')
    cache.clear()
    expect([cache.get('b'), cache.bytes()]).to.deep.equal([undefined, 0])
  })

  it('finds an entry by a long key, and no other', () => {
    const cache = start(10_000)
    cache.set('x'.repeat(1_000_000), 'long')
    expect(cache.get('x'.repeat(1_000_000))).to.equal('long')
    expect(cache.get('x'.repeat(999_999))).to.equal(undefined)
  })
})

describe('toCacheKey', () => {
  it('returns a short key unchanged, and distinct digests for long ones', () => {
    expect(toCacheKey('short')).to.equal('short')
    const [a, b] = [toCacheKey('x'.repeat(10_000)), toCacheKey(`${'x'.repeat(9_999)}y`)]
    expect(a).to.match(/^sha256:.{43}$/)
    expect(a).to.not.equal(b)
  })
})

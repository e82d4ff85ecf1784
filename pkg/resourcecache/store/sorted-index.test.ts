import { expect } from 'chai'
import { createRandom, entry, namesOf } from '../fixtures.ts'
import { byKey, toOrder } from '../list/order.ts'
import type { CachedObject } from './cached-object.ts'
import { type Compare, SortedIndex } from './sorted-index.ts'

const created = (i: number) => `2031-01-01T00:00:${String(i).padStart(2, '0')}Z`

describe('SortedIndex', () => {
  it('sorts its initial entries', () => {
    const index = new SortedIndex(
      byKey,
      ['c', 'a', 'b'].map(name => entry(name)),
    )
    expect(namesOf(index.snapshot())).to.deep.equal(['a', 'b', 'c'])
    expect(index.size).to.equal(3)
  })

  it('starts and ends empty', () => {
    const index = new SortedIndex(byKey, [])
    expect(index.snapshot()).to.deep.equal([])
    index.insert(entry('a'))
    index.remove(entry('a'))
    expect(index.snapshot()).to.deep.equal([])
    expect(index.size).to.equal(0)
  })

  it('ignores the removal of a missing entry', () => {
    const index = new SortedIndex(byKey, [entry('b')])
    for (const name of ['a', 'c']) index.remove(entry(name))
    new SortedIndex(byKey, []).remove(entry('a'))
    expect(namesOf(index.snapshot())).to.deep.equal(['b'])
    expect(index.size).to.equal(1)
  })

  it('sorts by bytes and not by language', () => {
    const names = ['a-b', 'a.b', 'a0', 'aB', 'ab', 'node-10', 'node-2']
    const index = new SortedIndex(
      byKey,
      names.toReversed().map(name => entry(name)),
    )
    expect(namesOf(index.snapshot())).to.deep.equal(names)
  })

  const orders: readonly [string, Compare][] = [
    ['name', toOrder('name').compare],
    ['creation time', toOrder('createTime').compare],
  ]
  for (const [what, order] of orders) {
    it(`remains a sorted array by ${what} after thousands of changes, and its snapshots do not change`, () => {
      const random = createRandom(5)
      const index = new SortedIndex(order, [])
      const kept: { snapshot: ReturnType<SortedIndex['snapshot']>; expected: readonly CachedObject[] }[] = []
      let plain: readonly CachedObject[] = []
      for (let step = 0; step < 6000; step++) {
        // Grows to several hundred objects, so that chunks split, and then shrinks to none.
        const wantsMore = step < 3500 ? random(3) > 0 : random(6) === 0
        plain = change(index, plain, { random, wantsMore })
        expect(index.size).to.equal(plain.length)
        if (step % 97 === 0) {
          const expected = [...plain].sort(order)
          const snapshot = index.snapshot()
          expect(snapshot.flatMap(chunk => chunk.entries)).to.deep.equal(expected)
          kept.push({ snapshot, expected })
        }
      }
      for (const { snapshot, expected } of kept) {
        expect(snapshot.flatMap(chunk => chunk.entries)).to.deep.equal(expected)
        expect(snapshot.every(chunk => chunk.entries.length > 0)).to.equal(true)
      }
    })
  }

  it('changes only the chunk of the changed entry', () => {
    const index = new SortedIndex(
      byKey,
      Array.from({ length: 1000 }, (_, i) => entry(`n${1000 + i}`)),
    )
    const before = new Set(index.snapshot())
    index.replace(entry('n1500'), entry('n1500', { version: 2 }))
    index.remove(entry('n1501'))
    index.insert(entry('n1501x'))
    const changed = index.snapshot().filter(chunk => !before.has(chunk))
    expect(changed.length).to.be.within(1, 2)
  })

  it('creates an independent copy', () => {
    const index = new SortedIndex(
      byKey,
      ['a', 'b', 'c'].map(name => entry(name)),
    )
    const copy = index.copy()
    copy.remove(entry('b'))
    index.insert(entry('d'))
    expect(namesOf(index.snapshot())).to.deep.equal(['a', 'b', 'c', 'd'])
    expect(namesOf(copy.snapshot())).to.deep.equal(['a', 'c'])
    expect([index.size, copy.size]).to.deep.equal([4, 2])
  })
})

/** Applies one random change to an index and to a plain array. */
function change(
  index: SortedIndex,
  plain: readonly CachedObject[],
  { random, wantsMore }: { random: (below: number) => number; wantsMore: boolean },
): readonly CachedObject[] {
  const name = `n${random(400)}`
  const make = () => entry(name, { created: created(random(12)), version: random(1_000_000) })
  const old = plain.find(other => other.name === name)
  if (old === undefined) {
    if (!wantsMore) return plain
    const added = make()
    index.insert(added)
    return [...plain, added]
  }
  if (!wantsMore) {
    index.remove(old)
    return plain.filter(other => other !== old)
  }
  const changed = random(2) ? make() : old.at(random(1_000_000))
  index.replace(old, changed)
  return plain.map(other => (other === old ? changed : other))
}

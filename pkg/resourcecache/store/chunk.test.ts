import { expect } from 'chai'
import { entry } from '../fixtures.ts'
import { countEntries, entriesOf, Leaf, offsetAfter, selectPage, toLeaves } from './chunk.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, i) => entry(`n${1000 + i}`))

describe('toLeaves', () => {
  for (const count of [0, 1, 23, 24, 25, 48, 49, 72, 500]) {
    it(`keeps ${count} entries in order, in leaves of at most 48`, () => {
      const entries = numbered(count)
      const leaves = toLeaves(entries)
      expect(leaves.flatMap(leaf => leaf.entries)).to.deep.equal(entries)
      expect(leaves.every(leaf => leaf.entries.length > 0 && leaf.entries.length <= 48)).to.equal(true)
      expect(countEntries(leaves)).to.equal(count)
    })
  }
})

describe('selectPage', () => {
  const shapes: readonly (readonly number[])[] = [[], [1], [5], [1, 1, 1], [3, 1, 4, 1, 5], [24, 24, 2]]
  for (const shape of shapes) {
    it(`finds every page of leaves of ${shape.join(', ') || 'no'} entries, in both directions`, () => {
      const entries = numbered(shape.reduce((sum, n) => sum + n, 0))
      let at = 0
      const leaves = shape.map(length => {
        at += length
        return new Leaf(entries.slice(at - length, at))
      })
      const size = entries.length
      for (const descending of [false, true]) {
        const ordered = descending ? entries.toReversed() : entries
        for (let offset = 0; offset <= size + 1; offset++) {
          for (let count = 0; count <= size + 2; count++) {
            const page = selectPage(leaves, { offset, count, descending, size })
            expect([...entriesOf(page)], `${offset} ${count} ${descending}`).to.deep.equal(
              ordered.slice(offset, offset + count),
            )
          }
        }
      }
    })
  }
})

describe('selectPage of many leaves', () => {
  const counted = () => {
    const state = { looks: 0 }
    const entries = numbered(20)
    const leaves = Array.from({ length: 1000 }, () => {
      const leaf = new Leaf(entries)
      Object.defineProperty(leaf, 'entries', {
        get() {
          state.looks++
          return entries
        },
      })
      return leaf
    })
    return { state, leaves, size: 20_000 }
  }
  for (const descending of [false, true]) {
    it(`looks at the leaves between a page and the nearer end alone, ${descending ? 'descending' : 'ascending'}`, () => {
      for (const offset of [0, 490, 19_500, 19_990]) {
        const { state, leaves, size } = counted()
        const { runs } = selectPage(leaves, { offset, count: 10, descending, size })
        expect(runs.reduce((sum, { start, end }) => sum + end - start, 0)).to.equal(10)
        expect(state.looks, String(offset)).to.be.below(100)
      }
    })
  }
})

describe('offsetAfter', () => {
  const leaves = [['b', 'd'], ['f'], ['h', 'j']].map(names => new Leaf(names.map(name => entry(name))))
  const table: readonly [string, number][] = [
    ['', 0],
    ['a', 0],
    ['b', 1],
    ['c', 1],
    ['d', 2],
    ['e', 2],
    ['f', 3],
    ['i', 4],
    ['j', 5],
    ['z', 5],
  ]
  for (const [key, offset] of table) {
    it(`after ${JSON.stringify(key)} begins at ${offset}`, () => {
      expect(offsetAfter(leaves, key)).to.equal(offset)
    })
  }

  it('of nothing is 0', () => {
    expect(offsetAfter([], 'a')).to.equal(0)
  })
})

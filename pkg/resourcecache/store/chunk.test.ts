import { expect } from 'chai'
import { entry } from '../fixtures.ts'
import { byKey } from '../list/order.ts'
import { Chunk, countEntries, entriesOf, entriesWithin, offsetAfter, selectPage, toChunks } from './chunk.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, i) => entry(`n${1000 + i}`))

describe('toChunks', () => {
  for (const count of [0, 1, 23, 24, 25, 48, 49, 72, 500]) {
    it(`keeps ${count} entries in order, in chunks of at most 48`, () => {
      const entries = numbered(count)
      const chunks = toChunks(entries)
      expect(chunks.flatMap(chunk => chunk.entries)).to.deep.equal(entries)
      expect(chunks.every(chunk => chunk.entries.length > 0 && chunk.entries.length <= 48)).to.equal(true)
      expect(countEntries(chunks)).to.equal(count)
    })
  }
})

describe('selectPage', () => {
  const shapes: readonly (readonly number[])[] = [[], [1], [5], [1, 1, 1], [3, 1, 4, 1, 5], [24, 24, 2]]
  for (const shape of shapes) {
    it(`returns every page of chunks with ${shape.join(', ') || 'no'} entries, in both directions`, () => {
      const entries = numbered(shape.reduce((sum, n) => sum + n, 0))
      let at = 0
      const chunks = shape.map(length => {
        at += length
        return new Chunk(entries.slice(at - length, at))
      })
      const size = entries.length
      for (const descending of [false, true]) {
        const ordered = descending ? entries.toReversed() : entries
        for (let offset = 0; offset <= size + 1; offset++) {
          for (let count = 0; count <= size + 2; count++) {
            const page = selectPage(chunks, { offset, count, descending, size })
            expect([...entriesOf(page)], `${offset} ${count} ${descending}`).to.deep.equal(
              ordered.slice(offset, offset + count),
            )
          }
        }
      }
    })
  }
})

describe('selectPage of many chunks', () => {
  const counted = () => {
    const state = { looks: 0 }
    const entries = numbered(20)
    const chunks = Array.from({ length: 1000 }, () => {
      const chunk = new Chunk(entries)
      Object.defineProperty(chunk, 'entries', {
        get() {
          state.looks++
          return entries
        },
      })
      return chunk
    })
    return { state, chunks, size: 20_000 }
  }
  for (const descending of [false, true]) {
    it(`reads only the chunks between a page and the nearer end, ${descending ? 'descending' : 'ascending'}`, () => {
      for (const offset of [0, 490, 19_500, 19_990]) {
        const { state, chunks, size } = counted()
        const { runs } = selectPage(chunks, { offset, count: 10, descending, size })
        expect(runs.reduce((sum, { start, end }) => sum + end - start, 0)).to.equal(10)
        expect(state.looks, String(offset)).to.be.below(100)
      }
    })
  }
})

describe('offsetAfter', () => {
  const chunks = [['b', 'd'], ['f'], ['h', 'j']].map(names => new Chunk(names.map(name => entry(name))))
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
    it(`returns ${offset} for ${JSON.stringify(key)}`, () => {
      expect(offsetAfter(chunks, key)).to.equal(offset)
    })
  }

  it('returns 0 without a key', () => {
    expect(offsetAfter([], 'a')).to.equal(0)
  })
})

describe('entriesWithin', () => {
  // By name, `a` precedes `a-b`; by key it follows.
  const namespaces = ['a', 'a-b', 'a.b', 'a0', 'ab', 'b', 'empty']
  const all = namespaces
    .filter(name => name !== 'empty')
    .flatMap((namespace, i) =>
      Array.from({ length: [1, 24, 60, 3, 100, 7][i] ?? 0 }, (_, n) =>
        entry(`n${n}`, { meta: { namespace } }),
      ),
    )
    .sort(byKey)
  const chunks = toChunks(all)

  it('returns the entries of several namespaces, in order', () => {
    for (let chosen = 0; chosen < 2 ** namespaces.length; chosen++) {
      const names = new Set(namespaces.filter((_, i) => (chosen >> i) & 1))
      const expected = all.filter(({ namespace }) => names.has(namespace))
      expect([...entriesWithin(chunks, names)], [...names].join()).to.deep.equal(expected)
    }
    expect([...entriesWithin(chunks, undefined)]).to.deep.equal(all)
    expect([...entriesWithin([], new Set(['a']))]).to.deep.equal([])
  })

  it('reads few chunks of other namespaces', () => {
    let looks = 0
    const many = toChunks(
      Array.from({ length: 5_000 }, (_, i) => entry('x', { meta: { namespace: `n${1e4 + i}` } })),
    )
    const counting = many.map(({ entries }) => ({
      get entries() {
        looks++
        return entries
      },
    }))
    expect([...entriesWithin(counting, new Set(['n12345']))]).to.have.length(1)
    expect(looks).to.be.below(15)
  })
})

import { expect } from 'chai'
import { createTopItems, sortInSteps } from './sort-in-steps.ts'

type Item = { readonly key: number; readonly arrival: number }

const byKey = (a: Item, b: Item) => a.key - b.key || a.arrival - b.arrival
const numbers = (count: number): readonly Item[] =>
  Array.from({ length: count }, (_, i) => ({ key: (i * 7919) % 101, arrival: i }))

function run<T>(steps: Generator<undefined, T>): { readonly result: T; readonly count: number } {
  for (let count = 0; ; count += 1) {
    const { done, value } = steps.next()
    if (done) return { result: value, count }
  }
}

describe('sortInSteps', () => {
  for (const count of [0, 1, 2, 3, 100, 1_000]) {
    it(`sorts ${count} items stably`, () => {
      const items = numbers(count)
      const { result } = run(sortInSteps(items, (a, b) => a.key - b.key))
      expect(result).to.deep.equal(items.toSorted(byKey))
    })
  }

  it('compares few items per step', () => {
    let compared = 0
    let most = 0
    const steps = sortInSteps(numbers(2_000), (a, b) => {
      compared += 1
      return a.key - b.key
    })
    while (!steps.next().done) {
      most = Math.max(most, compared)
      compared = 0
    }
    expect(most).to.be.within(1, 16)
  })
})

describe('createTopItems', () => {
  for (const most of [0, 1, 2, 17, 500, 1_000, Number.POSITIVE_INFINITY]) {
    it(`keeps the first ${most} items, and returns the others`, () => {
      const items = numbers(700)
      const firsts = createTopItems(most, byKey)
      const cut = items.flatMap(item => firsts.add(item) ?? [])
      const sorted = items.toSorted(byKey)
      expect(firsts.items.toSorted(byKey)).to.deep.equal(sorted.slice(0, most))
      expect(cut.toSorted(byKey)).to.deep.equal(sorted.slice(firsts.items.length))
    })
  }
})

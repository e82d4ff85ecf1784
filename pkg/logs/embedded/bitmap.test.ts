import { expect } from 'chai'
import fc from 'fast-check'
import {
  and,
  andNot,
  countBits,
  emptyBitmap,
  hasBit,
  isEmpty,
  or,
  rangeBitmap,
  setBit,
  takeBits,
} from './bitmap.ts'

const size = 100
const numbers = fc.uniqueArray(fc.nat(size - 1))
const from = fc.nat(size)

function toBitmap(list: readonly number[]) {
  const bits = emptyBitmap(size)
  for (const number of list) setBit(bits, number)
  return bits
}

function toList(bits: Uint32Array): readonly number[] {
  return Array.from({ length: size }, (_, i) => i).filter(i => hasBit(bits, i))
}

describe('bitmaps', () => {
  it('join like sets', () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const within = (list: readonly number[]) => (number: number) => list.includes(number)
        const every = Array.from({ length: size }, (_, i) => i)
        expect(toList(and(toBitmap(a), toBitmap(b)))).to.deep.equal(every.filter(within(a)).filter(within(b)))
        expect(toList(or(toBitmap(a), toBitmap(b)))).to.deep.equal(every.filter(within([...a, ...b])))
        expect(toList(andNot(toBitmap(a), toBitmap(b)))).to.deep.equal(
          every.filter(within(a)).filter(number => !b.includes(number)),
        )
        expect(isEmpty(toBitmap(a))).to.equal(a.length === 0)
      }),
      { seed: 8 },
    )
  })

  it('count and take what lies in a range, from either end', () => {
    fc.assert(
      fc.property(numbers, from, from, fc.nat(10), (list, start, end, limit) => {
        const bits = toBitmap(list)
        const inside = list.filter(number => number >= start && number < end).sort((a, b) => a - b)
        const range = { from: start, to: end }
        expect(countBits(bits, start, end)).to.equal(inside.length)
        expect(takeBits(bits, range, limit, false)).to.deep.equal(inside.slice(0, limit))
        expect(takeBits(bits, range, limit, true)).to.deep.equal(inside.reverse().slice(0, limit))
        expect(toList(rangeBitmap(size, start, Math.max(start, end)))).to.deep.equal(
          Array.from({ length: Math.max(end - start, 0) }, (_, i) => start + i),
        )
      }),
      { seed: 8 },
    )
  })
})

import { expect } from 'chai'
import fc from 'fast-check'
import { and, countBits, emptyBitmap, hasBit, listBits, setBit, setBits } from './bitmap.ts'

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
  it('compute intersections as sets do', () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const expected = a.filter(number => b.includes(number)).sort((x, y) => x - y)
        expect(toList(and(toBitmap(a), toBitmap(b)))).to.deep.equal(expected)
      }),
      { seed: 8 },
    )
  })

  it('count, list and set the bits of a range', () => {
    fc.assert(
      fc.property(numbers, from, from, (list, start, end) => {
        const bits = toBitmap(list)
        const isInside = (number: number) => number >= start && number < end
        const inside = list.filter(isInside).sort((a, b) => a - b)
        expect(countBits(bits, start, end)).to.equal(inside.length)
        expect(listBits(bits, start, end)).to.deep.equal(inside)
        setBits(bits, start, end)
        const expected = Array.from({ length: size }, (_, i) => i).filter(
          i => isInside(i) || list.includes(i),
        )
        expect(toList(bits)).to.deep.equal(expected)
      }),
      { seed: 8 },
    )
  })
})

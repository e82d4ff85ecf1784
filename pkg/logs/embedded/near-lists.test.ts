import { expect } from 'chai'
import { emptyBitmap, setBit, takeBits } from './bitmap.ts'
import { createByteWriter } from './bytes.ts'
import { addLists } from './near-lists.ts'

const count = 64_000

describe('addLists', () => {
  it('adds what each of the lists has, be they near each other or not, and reads as little as that takes', () => {
    const file = createByteWriter()
    const lists: { readonly head: number; readonly offset: number; readonly length: number }[] = []
    const wanted = new Set<number>()
    const add = (head: number, write: () => void): void => {
      const offset = file.length()
      write()
      lists.push({ head, offset, length: file.length() - offset })
    }
    const steps = (documents: readonly number[]): void => {
      for (const [i, document] of documents.entries()) file.varint(document - (documents[i - 1] ?? 0))
      for (const document of documents) wanted.add(document)
    }
    for (const gap of [0, 3, 4096, 4097, 100_000, 0]) {
      file.bytes(new Uint8Array(gap))
      add(2 * 3, () => steps([gap % 500, 1000 + (gap % 77), 63_000 + (gap % 900)]))
      add(2 * 2000 + 1, () => {
        const bits = new Uint8Array(count / 8)
        for (let i = 0; i < 2000; i += 1) {
          const document = 20 * i + (gap % 20)
          bits[document >>> 3] = (bits[document >>> 3] ?? 0) | (1 << (document & 7))
          wanted.add(document)
        }
        file.bytes(bits)
      })
    }
    for (let i = 0; i < 60; i += 1) add(2 * 5000, () => steps(Array.from({ length: 5000 }, (_, n) => n + i)))
    const reads: number[] = []
    const bits = emptyBitmap(count)
    setBit(bits, count - 1)
    const adder = addLists(({ offset, length }, work) => {
      reads.push(length)
      work(Buffer.from(file.view().subarray(offset, offset + length)))
    }, bits)
    for (const { head, offset, length } of lists) adder.add(head, offset, length)
    adder.finish()
    const found = takeBits(bits, { from: 0, to: count }, Number.POSITIVE_INFINITY, false)
    expect(found).to.deep.equal([...wanted, count - 1].sort((a, b) => a - b))
    expect(reads).to.have.length.within(3, lists.length / 2)
    expect(Math.max(...reads)).to.be.at.most(256 * 1024)
  })

  it('reads nothing for no lists', () => {
    const bits = emptyBitmap(count)
    addLists(() => expect.fail('something was read'), bits).finish()
    expect(takeBits(bits, { from: 0, to: count }, 1, false)).to.deep.equal([])
  })
})

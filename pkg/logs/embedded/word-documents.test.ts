import { expect } from 'chai'
import { emptyBitmap, setBit } from './bitmap.ts'
import { toWordDocuments } from './word-documents.ts'

describe('toWordDocuments', () => {
  const count = 4096
  const bitmapOf = (...documents: number[]) => {
    const bits = emptyBitmap(count)
    for (const document of documents) setBit(bits, document)
    return bits
  }

  /** A list that is part of a larger memory, which is used for something else afterwards. */
  function of(head: number, bytes: Buffer): ReturnType<typeof toWordDocuments> {
    const memory = Buffer.alloc(bytes.length + 16, 0xff)
    bytes.copy(memory, 8)
    const list = () => memory.subarray(8, 8 + bytes.length)
    const found = toWordDocuments({ head, only: 0, list }, count)
    memory.fill(0xff)
    return found
  }

  it('has the bitmap of a frequent word, made once', () => {
    const bits = bitmapOf(0, 31, 32, 4095)
    const found = of(4 * 2 + 1, Buffer.from(bits.buffer))
    expect(found.bits()).to.deep.equal(bits)
    expect(found.bits()).to.equal(found.bits())
    expect(found.count).to.equal(4)
    expect(found.bytes).to.be.within(bits.byteLength, bits.byteLength + 512)
  })

  it('has the list of a rare one, in less memory', () => {
    // Steps from 0: 5, then 300 in two bytes, then 1.
    const found = of(3 * 2, Buffer.of(5, 0xac, 0x02, 1))
    expect(found.bits()).to.deep.equal(bitmapOf(5, 305, 306))
    expect(found.bits()).to.deep.equal(bitmapOf(5, 305, 306))
    expect(found.count).to.equal(3)
    expect(found.bytes).to.be.below(count / 8)
  })

  it('has the only document of a word', () => {
    const found = toWordDocuments({ head: 2, only: 77, list: () => Buffer.alloc(0) }, count)
    expect(found.bits()).to.deep.equal(bitmapOf(77))
    expect(found.count).to.equal(1)
  })
})

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { createByteReader, createByteWriter } from './bytes.ts'

describe('createByteWriter and createByteReader', () => {
  const numbers = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 47, 2 ** 53 - 1]
  const texts = ['', 'a', 'größe', '连接失败', '😀'.repeat(50), 'x'.repeat(20_000)]

  it('reads what was written, in the same order', () => {
    const writer = createByteWriter(1)
    for (const number of numbers) {
      writer.varint(number)
      writer.uint32(number % 2 ** 32)
      writer.float64(-number / 3)
    }
    for (const text of texts) writer.text(text)
    writer.byte(7)
    const bytes = writer.view()
    expect(bytes.length).to.equal(writer.length())
    const reader = createByteReader(bytes)
    for (const number of numbers)
      expect([reader.varint(), reader.uint32(), reader.float64()]).to.deep.equal([
        number,
        number % 2 ** 32,
        -number / 3,
      ])
    for (const text of texts) expect(reader.text()).to.equal(text)
    expect([reader.byte(), reader.at()]).to.deep.equal([7, bytes.length])
  })

  it('lets go of its memory when it grows, and when it is told to', () => {
    const writer = createByteWriter(4)
    writer.uint32(1)
    const before = writer.view()
    writer.uint32(2)
    const bytes = writer.view()
    expect([before.length, [...bytes]]).to.deep.equal([0, [1, 0, 0, 0, 2, 0, 0, 0]])
    writer.release()
    expect(bytes.length).to.equal(0)
  })

  it('passes over a text, and tells where it lies', () => {
    const writer = createByteWriter()
    for (const text of texts) writer.text(text)
    const bytes = writer.view()
    const reader = createByteReader(bytes)
    for (const text of texts) {
      const size = reader.varint()
      const start = reader.skip(size)
      const end = start + size
      expect(bytes.toString('utf8', start, end)).to.equal(text)
    }
  })

  it('begins anew in the same memory', () => {
    const writer = createByteWriter()
    writer.text('before')
    writer.clear()
    writer.slice(Buffer.from('abc'), 1, 3)
    writer.bytes(Buffer.from('d'))
    expect(writer.view().toString()).to.equal('bcd')
  })

  const short: readonly (readonly [string, (reader: ReturnType<typeof createByteReader>) => unknown])[] = [
    ['a byte', reader => reader.byte()],
    ['a varint', reader => reader.varint()],
    ['four bytes', reader => reader.uint32()],
    ['eight bytes', reader => reader.float64()],
    ['a text', reader => reader.text()],
  ]
  for (const [what, read] of short)
    it(`refuses ${what} that is not whole`, () => {
      const cut = what === 'a byte' ? [] : what === 'a text' ? [3, 97, 98] : [0xff, 0xff]
      expect(() => read(createByteReader(Buffer.from(cut)))).to.throw(RangeError, 'the bytes end too early')
    })

  it('is let go of by a quick collection, and the bytes with it', () => {
    setFlagsFromString('--expose-gc')
    const gc: (options: { readonly type: 'minor' | 'major' }) => void = runInNewContext('gc')
    const size = 1_000_000
    const read = (): void => {
      for (let i = 0; i < 20; i += 1) createByteReader(Buffer.allocUnsafeSlow(size)).byte()
    }
    gc({ type: 'major' })
    const before = process.memoryUsage().arrayBuffers
    read()
    gc({ type: 'minor' })
    gc({ type: 'minor' })
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(5 * size)
  })
})

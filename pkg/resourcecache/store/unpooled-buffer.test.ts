import { expect } from 'chai'
import { toUnpooledBuffer, unpooledBuffer } from './unpooled-buffer.ts'

describe('bytes that are kept', () => {
  for (const text of ['', 'a', 'grün, 日本', 'x'.repeat(5_000)]) {
    it(`of ${JSON.stringify(text.slice(0, 10))} hold no memory but their own`, () => {
      const bytes = toUnpooledBuffer(text)
      expect(bytes.toString('utf8')).to.equal(text)
      expect(bytes.buffer.byteLength).to.equal(Buffer.byteLength(text))
    })
  }

  it('are copied out of what they are cut from, and left alone when they are all of it', () => {
    const large = Buffer.alloc(65_536, 'x')
    const cut = unpooledBuffer(large.subarray(10, 14))
    expect(cut.toString('latin1')).to.equal('xxxx')
    expect(cut.buffer.byteLength).to.equal(4)
    expect(unpooledBuffer(large)).to.equal(large)
  })
})

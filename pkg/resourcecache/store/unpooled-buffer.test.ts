import { expect } from 'chai'
import { toUnpooledBuffer, unpooledBuffer } from './unpooled-buffer.ts'

describe('buffers that are kept', () => {
  for (const text of ['', 'a', 'grün, 日本', 'x'.repeat(5_000)]) {
    it(`from ${JSON.stringify(text.slice(0, 10))} retain only their own memory`, () => {
      const bytes = toUnpooledBuffer(text)
      expect(bytes.toString('utf8')).to.equal(text)
      expect(bytes.buffer.byteLength).to.equal(Buffer.byteLength(text))
    })
  }

  it('are copied out of a larger buffer, and not copied otherwise', () => {
    const large = Buffer.alloc(65_536, 'x')
    const cut = unpooledBuffer(large.subarray(10, 14))
    expect(cut.toString('latin1')).to.equal('xxxx')
    expect(cut.buffer.byteLength).to.equal(4)
    expect(unpooledBuffer(large)).to.equal(large)
  })
})

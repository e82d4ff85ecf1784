import { expect } from 'chai'
import decodeQR from 'qr/decode.js'
import { qrCode } from './qr-code.ts'

describe('qrCode', () => {
  it('draws a code that a reader can scan, with a white border', () => {
    const text =
      'otpauth://totp/My%20Platform:alice?issuer=My%20Platform&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    const { text: svg } = qrCode(text, 'a "label"')
    expect(svg)
      .to.include('aria-label="a &quot;label&quot;"')
      .and.not.match(/style=|<script/)
    const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1])
    const scale = 4
    const width = size * scale
    const data = new Uint8Array(width * width * 4).fill(255)
    for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
      expect(Math.min(Number(x), Number(y))).to.be.at.least(4)
      for (let i = 0; i < scale * scale; i++) {
        const [column, row] = [Number(x) * scale + (i % scale), Number(y) * scale + Math.floor(i / scale)]
        data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3)
      }
    }
    expect(decodeQR({ width, height: width, data })).to.equal(text)
  })
})

import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { createRandom } from '../fixtures.ts'
import { joinGzip, toGzipPiece } from './gzip.ts'

function unpack(pieces: readonly Buffer[]): Buffer {
  return gunzipSync(Buffer.concat([...joinGzip(pieces.map(toGzipPiece))]))
}

describe('joinGzip', () => {
  const table: readonly [string, readonly Buffer[]][] = [
    ['no pieces', []],
    ['one empty piece', [Buffer.alloc(0)]],
    ['empty pieces', [Buffer.alloc(0), Buffer.alloc(0), Buffer.alloc(0)]],
    ['one byte', [Buffer.from('a')]],
    ['empty pieces around text', [Buffer.alloc(0), Buffer.from('abc'), Buffer.alloc(0), Buffer.from('d')]],
    ['zeros', [Buffer.alloc(100_000), Buffer.alloc(1), Buffer.alloc(70_000)]],
    ['all bytes', [Buffer.from(Array.from({ length: 256 }, (_, i) => i))]],
    ['non-ASCII text', [Buffer.from('grün'), Buffer.from('証明書')]],
    ['200 pieces', Array.from({ length: 200 }, (_, i) => Buffer.from(`{"name":"node-${i}"},`.repeat(i)))],
    ['one large piece', [Buffer.from('0123456789'.repeat(300_000))]],
  ]
  for (const [what, pieces] of table) {
    it(`creates valid gzip from ${what}`, () => {
      expect(unpack(pieces).equals(Buffer.concat(pieces))).to.equal(true)
    })
  }

  it('creates valid gzip from random pieces', () => {
    const random = createRandom(4)
    for (let round = 0; round < 100; round++) {
      const pieces = Array.from({ length: random(30) }, () => {
        const alphabet = 1 + random(256)
        return Buffer.from(Array.from({ length: random(3) === 0 ? 0 : random(3000) }, () => random(alphabet)))
      })
      expect(unpack(pieces).equals(Buffer.concat(pieces))).to.equal(true)
    }
  })

  it('accepts a piece at any position, any number of times, without compressing it again', () => {
    const [a, b] = [toGzipPiece(Buffer.from('left,')), toGzipPiece(Buffer.from('right;'))]
    const before = Buffer.from(a.deflated)
    for (const pieces of [[a], [b, a], [a, a, b], [b, b, a, b, a, a]]) {
      const joined = [...joinGzip(pieces)]
      for (const [i, piece] of pieces.entries()) expect(joined[i + 1]).to.equal(piece.deflated)
      expect(gunzipSync(Buffer.concat(joined)).toString()).to.equal(
        pieces.map(piece => (piece === a ? 'left,' : 'right;')).join(''),
      )
    }
    expect(a.deflated.equals(before)).to.equal(true)
  })

  it('does not retain the memory of the compression', () => {
    const { deflated } = toGzipPiece(Buffer.from('abc'.repeat(1_000)))
    expect(deflated.buffer.byteLength).to.equal(deflated.length)
  })

  it('writes a checksum and a length that detect a damaged piece', () => {
    const pieces = [toGzipPiece(Buffer.from('abc')), toGzipPiece(Buffer.from('def'))]
    const whole = Buffer.concat([...joinGzip(pieces)])
    const last = whole.length - 1
    for (const at of [last, last - 4]) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 1
      expect(() => gunzipSync(damaged)).to.throw()
    }
  })
})

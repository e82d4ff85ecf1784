import { createInflate, createZstdDecompress, deflateSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { rejectedStatus } from '../../../apierrors/fixtures.ts'
import { tooManyRequests } from '../../../apierrors/status.ts'
import { uncompressFrames } from './frames.ts'

const limit = { limitBytes: 1_000_000, hold: () => undefined }
const large = Buffer.alloc(300_000, 'ab')
// A frame of zstd that decoders skip, with three bytes.
const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
const kinds = [
  { name: 'zstd', create: createZstdDecompress, compress: (bytes: Buffer) => zstdCompressSync(bytes) },
  { name: 'deflate', create: createInflate, compress: (bytes: Buffer) => deflateSync(bytes) },
]

describe('uncompressFrames', () => {
  for (const { name, create, compress } of kinds) {
    const uncompress = (...parts: readonly Buffer[]) =>
      uncompressFrames(name, create, Buffer.concat(parts), limit)
    const [a, b, none] = ['first', 'second', ''].map(text => compress(Buffer.from(text)))
    if (a === undefined || b === undefined || none === undefined) throw new Error('no frames')

    it(`reads every frame of ${name}`, async () => {
      expect(String(await uncompress(a))).to.equal('first')
      expect(String(await uncompress(a, none, b, a))).to.equal('firstsecondfirst')
      expect(
        (await uncompress(compress(large), compress(large))).equals(Buffer.concat([large, large])),
      ).to.equal(true)
      expect(await uncompress()).to.have.length(0)
    })

    const invalid: readonly (readonly [string, readonly Buffer[]])[] = [
      ['a frame that is truncated', [a.subarray(0, -3)]],
      ['a second frame that is truncated', [a, b.subarray(0, -3)]],
      ['other data after a frame', [a, Buffer.from('{"log":"x"}\n')]],
      ['other data', [Buffer.from('{"log":"x"}\n')]],
    ]
    for (const [what, parts] of invalid) {
      it(`rejects ${what} in ${name}`, async () => {
        expect(await rejectedStatus(uncompress(...parts))).to.include({
          code: 400,
          message: `the body is truncated or not valid ${name}`,
        })
      })
    }

    it(`reports the decompressed bytes of ${name} before it decompresses more`, async () => {
      const held: number[] = []
      const hold = (bytes: number) => {
        held.push(bytes)
        if (bytes > 310_000) throw tooManyRequests('too much', 1)
      }
      const bytes = Buffer.concat(Array<Buffer>(3).fill(compress(large)))
      const rejection = await rejectedStatus(uncompressFrames(name, create, bytes, { ...limit, hold }))
      expect(rejection).to.include({ code: 429, message: 'too much' })
      expect(held.at(-1)).to.be.within(310_000, 400_000)
    })

    it(`limits the length of all frames of ${name}, and their number`, async () => {
      const packed = compress(large)
      expect((await rejectedStatus(uncompress(packed, packed, packed, packed))).code).to.equal(413)
      const many = await rejectedStatus(uncompress(...Array<Buffer>(10_001).fill(none)))
      expect(many).to.include({ code: 400, message: `the body has more than 10000 frames of ${name}` })
    }).timeout(60_000)
  }

  it('reads frames of zstd before and after one that is skipped', async () => {
    const [a, b] = ['first', 'second'].map(text => zstdCompressSync(Buffer.from(text)))
    const bytes = Buffer.concat([skippable, a ?? skippable, skippable, b ?? skippable])
    expect(String(await uncompressFrames('zstd', createZstdDecompress, bytes, limit))).to.equal('firstsecond')
  })
})

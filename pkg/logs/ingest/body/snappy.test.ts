import { expect } from 'chai'
import fc from 'fast-check'
import { compressSync } from 'snappy'
import { rejectedStatus } from '../../../apierrors/fixtures.ts'
import { Status } from '../../../apierrors/status.ts'
import { uncompressSnappy } from './snappy.ts'

const limit = { limitBytes: 1_000_000, hold: () => undefined }
const stream = Buffer.from([0xff, 6, 0, 0, ...Buffer.from('sNaPpY')])
const frame = (type: number, content: Buffer) => {
  const head = Buffer.from([type, 0, 0, 0])
  head.writeUIntLE(content.length, 1, 3)
  return Buffer.concat([head, content])
}
const checksum = Buffer.alloc(4)

describe('uncompressSnappy', () => {
  it('decompresses random blocks', async () => {
    const pieces = fc.array(
      fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(Buffer.from('the same, '))),
    )
    await fc.assert(
      fc.asyncProperty(pieces, fc.nat(30), async (parts, times) => {
        const bytes = Buffer.concat(Array.from({ length: times }, () => parts).flat())
        expect((await uncompressSnappy(compressSync(bytes), limit)).equals(bytes)).to.equal(true)
      }),
    )
  })

  it('decompresses a literal of each size, and a copy element of each type', async () => {
    // Literals with a length in one to four bytes, then copies with an offset of one, two and four
    // bytes.
    const literal = (bytes: number) => {
      const head = Buffer.alloc(1 + bytes)
      head[0] = (59 + bytes) << 2
      head.writeUIntLE(9, 1, bytes)
      return Buffer.concat([head, Buffer.from('0123456789')])
    }
    const copies = Buffer.from([0x01, 10, 0x0e, 10, 0, 0x0f, 2, 0, 0, 0])
    const all = Buffer.concat([Buffer.from([52]), ...[1, 2, 3, 4].map(literal), copies])
    expect(String(await uncompressSnappy(all, limit))).to.equal(`${'0123456789'.repeat(4)}012345676767`)
  })

  it('decompresses the framed format', async () => {
    const all = Buffer.concat([
      ...[stream, frame(0x00, Buffer.concat([checksum, compressSync(Buffer.from('abc'))]))],
      ...[frame(0xfe, Buffer.alloc(9)), frame(0x01, Buffer.concat([checksum, Buffer.from('def')])), stream],
    ])
    expect(String(await uncompressSnappy(all, limit))).to.equal('abcdef')
  })

  it('decompresses many small chunks in little time, and no more chunks than lines', async () => {
    const since = performance.now()
    const chunk = frame(0x00, Buffer.concat([checksum, compressSync(Buffer.from('a'))]))
    const of = (count: number, of: Buffer) => Buffer.concat([stream, ...Array<Buffer>(count).fill(of)])
    expect(await uncompressSnappy(of(50_000, chunk), limit)).to.have.length(50_000)
    for (const endless of [chunk, frame(0x01, checksum), frame(0xfe, Buffer.alloc(0)), stream])
      expect(await rejectedStatus(uncompressSnappy(of(1_000_000, endless), limit))).to.include({ code: 400 })
    expect(performance.now() - since).to.be.below(15_000)
  })

  const invalid: Readonly<Record<string, readonly number[]>> = {
    'an empty input': [],
    'a length that does not end': [0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    'a truncated literal': [4, 0x0c, 0x61],
    'a literal of almost 4 GiB': [4, 0xfc, 0xff, 0xff, 0xff, 0xff],
    'more bytes than the declared length': [1, 0x04, 0x61, 0x61],
    'fewer bytes than the declared length': [4, 0x04, 0x61, 0x61],
    'a copy from before the beginning of the output': [8, 0x00, 0x61, 0x01, 2],
    'a copy of zero bytes': [8, 0x00, 0x61, 0x01, 0],
    'a truncated chunk': [...stream, 0, 9, 0, 0, 1],
    'a reserved chunk type that cannot be skipped': [...stream, 0x02, 0, 0, 0],
  }
  for (const [what, bytes] of Object.entries(invalid)) {
    it(`rejects ${what}`, async () => {
      const rejection = await rejectedStatus(uncompressSnappy(Buffer.from(bytes), limit))
      expect(rejection).to.include({
        code: 400,
        reason: 'BadRequest',
        message: 'the body is not valid snappy',
      })
    })
  }

  it('stops at the size limit, also in the framed format', async () => {
    const large = compressSync(Buffer.alloc(600_000))
    const part = frame(0x00, Buffer.concat([checksum, large]))
    expect((await rejectedStatus(uncompressSnappy(large, { ...limit, limitBytes: 599_999 }))).code).to.equal(
      413,
    )
    const twice = Buffer.concat([stream, part, part])
    expect((await rejectedStatus(uncompressSnappy(twice, limit))).code).to.equal(413)
  })

  it('reserves memory for a block before it decompresses the block', async () => {
    const held: number[] = []
    const limits = { ...limit, hold: (bytes: number) => void held.push(bytes) }
    const part = frame(0x00, Buffer.concat([checksum, compressSync(Buffer.alloc(300))]))
    await uncompressSnappy(compressSync(Buffer.alloc(600)), limits)
    await uncompressSnappy(Buffer.concat([stream, part, part]), limits)
    expect(held).to.deep.equal([600, 300, 600])
  })

  it('throws only its own errors for any input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.boolean(), async (bytes, isStream) => {
        try {
          await uncompressSnappy(Buffer.concat([isStream ? stream : Buffer.alloc(0), bytes]), limit)
        } catch (error) {
          expect(error).to.be.instanceOf(Status)
        }
      }),
    )
  })
})

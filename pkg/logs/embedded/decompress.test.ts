import { createHook } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { createDecompress, type Decompress, decompressOnce } from './decompress.ts'

const packed = (content: Buffer, checksum = 1): Buffer =>
  zstdCompressSync(content, { params: { [constants.ZSTD_c_checksumFlag]: checksum } })
const text = Buffer.from('GET /api/v1/nodes 200\n'.repeat(3000))
const contents = [
  { name: 'nothing', content: Buffer.alloc(0) },
  { name: 'one byte', content: Buffer.from('a') },
  { name: 'few bytes', content: Buffer.from('a line\n'.repeat(8)) },
  { name: 'as much as its head tells in two bytes', content: text.subarray(0, 256) },
  { name: 'a block', content: text },
  { name: 'one byte again and again', content: Buffer.alloc(100_000, 'x') },
  { name: 'what cannot be made smaller', content: randomBytes(100_000) },
  {
    name: 'several blocks',
    content: Buffer.concat([text, randomBytes(300_000), Buffer.alloc(200_000), text]),
  },
]

describe('an engine that is kept for many frames', () => {
  const decompress = createDecompress()

  for (const { name, content } of contents) {
    for (const checksum of [1, 0]) {
      it(`unpacks ${name} ${checksum === 1 ? 'with' : 'without'} a checksum`, () => {
        expect(decompress(packed(content, checksum)).equals(content)).to.equal(true)
      })
    }
  }

  it('gives each content memory of its own', () => {
    const [one, other] = [decompress(packed(text)), decompress(packed(Buffer.alloc(text.length)))]
    expect(one.equals(text)).to.equal(true)
    expect(one.buffer).to.not.equal(other.buffer)
  })

  it('is one engine, with the zlib of this Node.js', () => {
    const frame = packed(text)
    expect(enginesOf(() => decompressOnce(frame))).to.equal(100)
    const another = createDecompress()
    expect(enginesOf(() => another(frame))).to.equal(1)
  })

  it('says of what is cut off what zlib says, and goes on', () => {
    const frame = packed(text.subarray(0, 5000))
    for (let length = 0; length < frame.length; length += 1) expectSame(decompress, frame.subarray(0, length))
    expect(decompress(frame).equals(text.subarray(0, 5000))).to.equal(true)
  })

  it('says of what is damaged what zlib says, and goes on', () => {
    const content = Buffer.concat([text.subarray(0, 700), randomBytes(40)])
    const frame = packed(content)
    for (let at = 0; at < frame.length; at += 1) {
      for (const bit of [0x01, 0x04, 0x80]) {
        const damaged = Buffer.from(frame)
        damaged[at] = (damaged[at] ?? 0) ^ bit
        expectSame(decompress, damaged)
        expect(decompress(frame).equals(content)).to.equal(true)
      }
    }
  })

  it('takes a frame with something behind it as zlib does', () => {
    const frame = packed(text)
    for (const behind of [frame, Buffer.from('behind'), Buffer.alloc(4)])
      expectSame(decompress, Buffer.concat([frame, behind]))
    expect(decompress(frame).equals(text)).to.equal(true)
  })
})

/** How many engines of zlib a hundred times of some work make. */
function enginesOf(work: () => unknown): number {
  let engines = 0
  const hook = createHook({
    init: (_, type) => {
      if (type === 'ZLIB') engines += 1
    },
  }).enable()
  for (let i = 0; i < 100; i += 1) work()
  hook.disable()
  return engines
}

function expectSame(decompress: Decompress, frame: Buffer): void {
  expect(outcomeOf(() => decompress(frame))).to.equal(outcomeOf(() => decompressOnce(frame)))
}

function outcomeOf(work: () => Buffer): string {
  try {
    return work().toString('hex')
  } catch (error) {
    return String(error)
  }
}

import { expect } from 'chai'
import { createFrameReader, opcodes, toCloseFrame, toFrame } from './web-socket-frames.ts'

const mask = Buffer.from([1, 2, 3, 4])

/** A frame as a client sends it. */
function fromClient(first: number, payload: Buffer): Buffer {
  const own = toFrame(0, payload)
  const head = own.subarray(0, own.length - payload.length)
  head[0] = first
  head[1] = (head[1] ?? 0) | 0x80
  return Buffer.concat([head, mask, Buffer.from(payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0)))])
}

function read(bytes: Buffer, pieceBytes: number): string[] {
  const told: string[] = []
  const reader = createFrameReader({
    ping: payload => void told.push(`ping ${payload}`),
    close: () => void told.push('close'),
    fail: () => void told.push('fail'),
  })
  for (let at = 0; at < bytes.length; at += pieceBytes) reader(bytes.subarray(at, at + pieceBytes))
  return told
}

describe('toFrame', () => {
  // RFC 6455 section 5.7 has the shortest and the two longer ways to write a length.
  for (const [length, head] of [
    [0, '8100'],
    [5, '8105'],
    [125, '817d'],
    [126, '817e007e'],
    [256, '817e0100'],
    [65_535, '817effff'],
    [65_536, '817f0000000000010000'],
  ] as const) {
    it(`of ${length} bytes`, () => {
      const payload = Buffer.alloc(length, 'a')
      const frame = toFrame(opcodes.text, payload)
      expect(frame.subarray(0, head.length / 2).toString('hex')).to.equal(head)
      expect(frame.subarray(head.length / 2).equals(payload)).to.equal(true)
    })
  }
  it('a close says its code', () => expect(toCloseFrame(1000).toString('hex')).to.equal('880203e8'))
})

describe('createFrameReader', () => {
  const text = (bytes: number) => fromClient(0x81, Buffer.alloc(bytes, 'x'))
  const ping = fromClient(0x89, Buffer.from('hey'))
  const close = fromClient(0x88, Buffer.from([3, 0xe8]))
  for (const [what, frames, expected] of [
    ['a ping', [ping], ['ping hey']],
    ['an empty ping', [fromClient(0x89, Buffer.alloc(0))], ['ping ']],
    ['messages, which are passed over', [text(0), text(5), text(126), text(70_000), ping], ['ping hey']],
    [
      'a message in parts',
      [fromClient(0x01, mask), ping, fromClient(0x80, mask), ping],
      ['ping hey', 'ping hey'],
    ],
    ['a pong', [fromClient(0x8a, mask), ping], ['ping hey']],
    ['a close, and nothing after it', [close, ping, close], ['close']],
    ['a close without a code', [fromClient(0x88, Buffer.alloc(0))], ['close']],
    ['what is not masked', [toFrame(opcodes.text, mask), ping], ['fail']],
    ['an extension that nobody agreed to', [fromClient(0xc1, mask), ping], ['fail']],
    ['an opcode that does not exist', [fromClient(0x83, mask), ping], ['fail']],
    ['a control frame in parts', [fromClient(0x09, mask), ping], ['fail']],
    ['a ping that is too long', [fromClient(0x89, Buffer.alloc(126)), ping], ['fail']],
    [
      'a length beyond all measure',
      [Buffer.concat([Buffer.from([0x81, 0xff]), Buffer.alloc(12, 0xff)])],
      ['fail'],
    ],
  ] as const) {
    for (const pieceBytes of [1, 7, 100_000]) {
      it(`${what}, ${pieceBytes} bytes at a time`, () => {
        expect(read(Buffer.concat([...frames]), pieceBytes)).to.deep.equal(expected)
      })
    }
  }
})

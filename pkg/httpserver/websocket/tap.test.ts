import { expect } from 'chai'
import { createWebSocketTap } from './tap.ts'

/** Encodes a frame with a payload of less than 126 bytes. */
function frame(payload: string, { head = 0x82, mask = '' } = {}): Buffer {
  const data = Buffer.from(payload)
  if (mask === '') return Buffer.concat([Buffer.of(head, data.length), data])
  const key = Buffer.from(mask)
  const masked = data.map((byte, i) => byte ^ (key[i % 4] ?? 0))
  return Buffer.concat([Buffer.of(head, 0x80 | data.length), key, masked])
}

async function pass(sender: 'client' | 'server', chunks: readonly Buffer[], maxMessageBytes = 1_000) {
  const messages: string[] = []
  const tap = createWebSocketTap({
    sender,
    maxMessageBytes,
    receive: async message => void messages.push(String(message)),
  })
  const ended = tap.toArray().catch(error => error)
  for (const chunk of chunks) tap.write(chunk)
  tap.end()
  const passed = await ended
  return { messages, passed: Array.isArray(passed) ? Buffer.concat(passed) : passed }
}

const manyFragments = Array.from({ length: 2_000 }, (_, i) =>
  frame('', { head: i === 0 ? 0x02 : 0x00, mask: 'abcd' }),
)

describe('createWebSocketTap', () => {
  it('reports every event unchanged, and parses the messages', async () => {
    const sent = Buffer.concat([
      frame('one'),
      frame('', { head: 0x89 }),
      frame('two'),
      frame('', { head: 0x88 }),
    ])
    for (const size of [1, 2, 7, 1_000]) {
      const chunks = Array.from({ length: Math.ceil(sent.length / size) }, (_, i) =>
        sent.subarray(i * size, (i + 1) * size),
      )
      expect(await pass('server', chunks)).to.deep.equal({ messages: ['one', 'two'], passed: sent })
    }
  })

  it('parses masked and fragmented messages of a client', async () => {
    const sent = [
      frame('one', { mask: 'abcd' }),
      frame('tw', { head: 0x02, mask: 'abcd' }),
      frame('o', { head: 0x80, mask: 'dcba' }),
    ]
    const copy = Buffer.concat(sent)
    expect(await pass('client', sent)).to.deep.equal({ messages: ['one', 'two'], passed: copy })
  })

  for (const [what, chunk] of [
    ['an unmasked frame of a client', frame('one')],
    ['a reserved opcode', frame('one', { head: 0x83, mask: 'abcd' })],
    ['compression', frame('one', { head: 0xc2, mask: 'abcd' })],
    ['a message in too many fragments', Buffer.concat(manyFragments)],
    ['a message that is too large', frame('x'.repeat(101), { mask: 'abcd' })],
  ] as const) {
    it(`fails for ${what}`, async () => {
      const { messages, passed } = await pass('client', [chunk], 100)
      expect([messages, passed instanceof Error]).to.deep.equal([[], true])
    })
  }

  it('passes on nothing before a message is handled, and fails if the handler fails', async () => {
    const gate = Promise.withResolvers<void>()
    const tap = createWebSocketTap({ sender: 'server', maxMessageBytes: 1_000, receive: () => gate.promise })
    const ended = tap.toArray().catch(error => String(error))
    tap.write(frame('one'))
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(tap.readableLength).to.equal(0)
    gate.reject(new Error('not stored'))
    expect(await ended).to.equal('Error: not stored')
  })
})

import { expect } from 'chai'
import { createAnswerWriter } from './answer-writer.ts'

describe('createAnswerWriter', () => {
  const many = Array.from({ length: 5000 }, (_, i) => `{"line":${i},"é":"€😀"},`)
  const answers: Readonly<Record<string, readonly (string | Uint8Array)[]>> = {
    nothing: [],
    texts: ['a', '', 'bé', '€'],
    bytes: [Uint8Array.of(1, 2), Uint8Array.of(), Uint8Array.of(255)],
    'texts and bytes by turns': ['a', Uint8Array.of(0xff), 'é', Uint8Array.of(0)],
    'many pieces': many,
    'one that is long': ['x'.repeat(100_000), '€'.repeat(70_000), new Uint8Array(9_000_000).fill(7)],
  }
  // What was written before must not be in the next.
  const write = createAnswerWriter()
  for (const [name, pieces] of [...Object.entries(answers), ...Object.entries(answers)]) {
    it(`joins ${name}`, () => {
      const wanted = Buffer.concat(pieces.map(piece => Buffer.from(piece)))
      const answer = write(pieces)
      expect(answer.equals(wanted)).to.equal(true)
      expect(answer.buffer.byteLength).to.equal(answer.length)
    })
  }

  it('writes each piece before it asks for the next', () => {
    const piece = new Uint8Array(1)
    const pieces = function* (): Generator<Uint8Array> {
      for (piece[0] = 0; (piece[0] ?? 0) < 100; piece[0] = (piece[0] ?? 0) + 1) yield piece
    }
    expect([...createAnswerWriter()(pieces())]).to.deep.equal(Array.from({ length: 100 }, (_, i) => i))
  })

  it('gives answers that what comes later does not change', () => {
    const first = write(['first'])
    write(['again'])
    expect(first.toString()).to.equal('first')
  })
})
